package figure

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"

	weight "golang.org/x/image/font"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
)

// embedded is a font in a PDF with the glyphs in use: texts refer to glyphs by their numbers in the
// font (ISO 32000-1, 9.7); for copying and searching the font maps them to characters.
type embedded struct {
	font  *opentype.Font
	runes map[sfnt.GlyphIndex]rune
	b     sfnt.Buffer
}

// show returns the operand of TJ for a text: its glyphs with the font's kerning.
func (e *embedded) show(text string) string {
	out := bytes.NewBufferString("[<")
	var last sfnt.GlyphIndex
	for _, r := range text {
		g, _ := e.font.GlyphIndex(&e.b, r) // 0: the glyph for characters that the font lacks
		if kern, _ := e.font.Kern(&e.b, last, g, e.unit(), weight.HintingNone); kern != 0 {
			fmt.Fprintf(out, ">%s<", decimal(-e.thousandths(kern)))
		}
		fmt.Fprintf(out, "%04x", g)
		last = g
		if _, is := e.runes[g]; !is {
			e.runes[g] = r
		}
	}
	return out.String() + ">]"
}

// unit is a size at which lengths are in the font's units.
func (e *embedded) unit() fixed.Int26_6 { return fixed.I(int(e.font.UnitsPerEm())) }

// thousandths converts to thousandths of the size.
func (e *embedded) thousandths(v fixed.Int26_6) float64 {
	return float64(v) / 64 * 1000 / float64(e.font.UnitsPerEm())
}

// write writes the objects of the font, and returns the number of the object that pages refer to.
func (e *embedded) write(object func(body string) int, stream func(entries string, content []byte) int) int {
	glyphs := slices.Sorted(maps.Keys(e.runes))
	var widths, codes strings.Builder
	for _, g := range glyphs {
		advance, _ := e.font.GlyphAdvance(&e.b, g, e.unit(), weight.HintingNone) // 0 if unknown
		fmt.Fprintf(&widths, "%d [%s] ", g, decimal(e.thousandths(advance)))
		fmt.Fprintf(&codes, "1 beginbfchar\n<%04x> <%s>\nendbfchar\n", g, utf16Hex(string(e.runes[g])))
	}
	name, _ := e.font.Name(&e.b, sfnt.NameIDPostScript)
	name = "SUBSET+" + name
	box, _ := e.font.Bounds(&e.b, e.unit(), weight.HintingNone) // zero if unknown
	file := stream("", subset(e.source(), glyphs))
	descriptor := object(fmt.Sprintf("<< /Type /FontDescriptor /FontName /%s /Flags 32 /FontBBox [%s %s %s %s] "+
		"/ItalicAngle 0 /Ascent 905 /Descent -212 /CapHeight 729 /StemV 80 /FontFile2 %d 0 R >>", name,
		decimal(e.thousandths(box.Min.X)), decimal(-e.thousandths(box.Max.Y)), decimal(e.thousandths(box.Max.X)),
		decimal(-e.thousandths(box.Min.Y)), file))
	descendant := object(fmt.Sprintf("<< /Type /Font /Subtype /CIDFontType2 /BaseFont /%s /CIDSystemInfo "+
		"<< /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> /FontDescriptor %d 0 R /W [%s] "+
		"/CIDToGIDMap /Identity >>", name, descriptor, widths.String()))
	unicode := stream("", []byte("/CIDInit /ProcSet findresource begin\n12 dict begin\nbegincmap\n"+
		"/CMapName /Characters def\n/CMapType 2 def\n1 begincodespacerange\n<0000> <ffff>\nendcodespacerange\n"+
		codes.String()+"endcmap\nCMapName currentdict /CMap defineresource pop\nend\nend\n"))
	return object(fmt.Sprintf("<< /Type /Font /Subtype /Type0 /BaseFont /%s /Encoding /Identity-H /DescendantFonts "+
		"[%d 0 R] /ToUnicode %d 0 R >>", name, descendant, unicode))
}

// source is the font file.
func (e *embedded) source() []byte {
	var out bytes.Buffer
	if _, err := e.font.WriteSourceTo(&e.b, &out); err != nil {
		panic(fmt.Sprintf("figure: the font that is compiled in: %v", err))
	}
	return out.Bytes()
}

// subset is a TrueType font with the outlines of some glyphs and of their components, with
// unchanged numbers; all other glyphs are empty. It has the tables that PDF requires.
func subset(ttf []byte, glyphs []sfnt.GlyphIndex) []byte {
	be := binary.BigEndian
	tables := map[string][]byte{}
	for i := range int(be.Uint16(ttf[4:])) {
		row := ttf[12+16*i:]
		from := be.Uint32(row[8:])
		tables[string(row[:4])] = ttf[from : from+be.Uint32(row[12:])]
	}
	head := slices.Clone(tables["head"])
	loca, outlines := tables["loca"], tables["glyf"]
	n := int(be.Uint16(tables["maxp"][4:]))
	outline := func(g int) []byte {
		if be.Uint16(head[50:]) == 0 { // offsets are halved, in 16 bits
			return outlines[2*int(be.Uint16(loca[2*g:])) : 2*int(be.Uint16(loca[2*g+2:]))]
		}
		return outlines[be.Uint32(loca[4*g:]):be.Uint32(loca[4*g+4:])]
	}
	kept := map[int]bool{0: true}
	var keep func(g int)
	keep = func(g int) {
		kept[g] = true
		if o := outline(g); len(o) > 0 && int16(be.Uint16(o)) < 0 { // it has parts in place of contours
			for _, part := range components(o) {
				keep(part)
			}
		}
	}
	for _, g := range glyphs {
		keep(int(g))
	}
	var glyf, places []byte
	for g := range n + 1 {
		places = be.AppendUint32(places, uint32(len(glyf)))
		if kept[g] && g < n {
			glyf = append(glyf, outline(g)...)
			glyf = append(glyf, make([]byte, -len(glyf)&3)...)
		}
	}
	be.PutUint16(head[50:], 1) // offsets are in 32 bits
	tables["head"], tables["loca"], tables["glyf"] = head, places, glyf
	names := slices.DeleteFunc([]string{"cvt ", "fpgm", "glyf", "head", "hhea", "hmtx", "loca", "maxp", "prep"},
		func(name string) bool { return tables[name] == nil })
	return assembled(names, tables)
}

// components returns the glyphs that make up an outline.
func components(outline []byte) (parts []int) {
	const words, scale, more, scales, matrix = 1 << 0, 1 << 3, 1 << 5, 1 << 6, 1 << 7
	for at := 10; ; {
		flags := binary.BigEndian.Uint16(outline[at:])
		parts = append(parts, int(binary.BigEndian.Uint16(outline[at+2:])))
		at += 6
		if flags&words != 0 {
			at += 2
		}
		switch {
		case flags&scale != 0:
			at += 2
		case flags&scales != 0:
			at += 4
		case flags&matrix != 0:
			at += 8
		}
		if flags&more == 0 {
			return parts
		}
	}
}

// assembled builds a font file from tables, in the order of names.
func assembled(names []string, tables map[string][]byte) []byte {
	be := binary.BigEndian
	power := 1
	for 2*power <= len(names) {
		power *= 2
	}
	head := be.AppendUint32(nil, 0x00010000)
	exponent := 0
	for 2<<exponent <= power {
		exponent++
	}
	for _, v := range []int{len(names), 16 * power, exponent, 16 * (len(names) - power)} {
		head = be.AppendUint16(head, uint16(v))
	}
	from := len(head) + 16*len(names)
	var body []byte
	for _, name := range names {
		table := append(slices.Clone(tables[name]), make([]byte, -len(tables[name])&3)...)
		var sum uint32
		for at := 0; at < len(table); at += 4 {
			sum += be.Uint32(table[at:])
		}
		head = append(head, name...)
		head = be.AppendUint32(head, sum)
		head = be.AppendUint32(head, uint32(from+len(body)))
		head = be.AppendUint32(head, uint32(len(tables[name])))
		body = append(body, table...)
	}
	return append(head, body...)
}

// decimal writes a number for PDF, without an exponent.
func decimal(v float64) string {
	text := strings.TrimRight(strings.TrimRight(strconv.FormatFloat(v, 'f', 4, 64), "0"), ".")
	if text == "-0" {
		return "0"
	}
	return text
}

// utf16Hex is a text in big-endian UTF-16, in hexadecimal digits.
func utf16Hex(text string) string {
	var out strings.Builder
	for _, unit := range utf16.Encode([]rune(text)) {
		fmt.Fprintf(&out, "%04x", unit)
	}
	return out.String()
}
