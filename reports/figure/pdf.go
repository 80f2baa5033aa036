package figure

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"image"
	"image/color"
	"io"
	"math"
	"slices"
	"strings"

	"golang.org/x/image/font/sfnt"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
)

// PDF writes figures, one below the other, as a document of one page with embedded subsets of the
// fonts. Equal figures give equal bytes.
func PDF(w io.Writer, figures ...Figure) error { return boxed(w, figures, writePDF) }

func writePDF(w io.Writer, figures []Figure) error {
	p := stack(figures)
	c := &pdf{width: p.scale * p.width, height: p.scale * p.depth}
	p.print(c)
	var titles []string
	for _, f := range figures {
		titles = append(titles, f.Title)
	}
	_, err := w.Write(c.document(clean(strings.Join(titles, "; "))))
	return err
}

// pdf is a canvas that writes the operators of a page: ISO 32000-1, 8.2. It does not support curves
// and images, which no layer draws.
type pdf struct {
	width, height vg.Length
	page          bytes.Buffer
	fonts         []*embedded // fonts in use, in the order of their first use
	alphas        []uint8     // opacities in use
}

func (c *pdf) Size() (w, h vg.Length) { return c.width, c.height }

// op writes an operator after its operands.
func (c *pdf) op(name string, operands ...float64) {
	for _, v := range operands {
		c.page.WriteString(decimal(v) + " ")
	}
	c.page.WriteString(name + "\n")
}

func (c *pdf) SetLineWidth(w vg.Length) { c.op("w", w.Points()) }

func (c *pdf) SetLineDash(dashes []vg.Length, offset vg.Length) {
	c.page.WriteString("[")
	for _, d := range dashes {
		c.page.WriteString(" " + decimal(d.Points()))
	}
	c.page.WriteString("] ")
	c.op("d", offset.Points())
}

func (c *pdf) SetColor(colour color.Color) {
	v := color.NRGBAModel.Convert(colour).(color.NRGBA)
	r, g, b := float64(v.R)/255, float64(v.G)/255, float64(v.B)/255
	c.op("rg", r, g, b)
	c.op("RG", r, g, b)
	i := slices.Index(c.alphas, v.A)
	if i < 0 {
		i, c.alphas = len(c.alphas), append(c.alphas, v.A)
	}
	fmt.Fprintf(&c.page, "/A%d gs\n", i)
}

func (c *pdf) Rotate(angle float64) {
	sin, cos := math.Sincos(angle)
	c.op("cm", cos, sin, -sin, cos, 0, 0)
}
func (c *pdf) Translate(by vg.Point) { c.op("cm", 1, 0, 0, 1, by.X.Points(), by.Y.Points()) }
func (c *pdf) Scale(x, y float64)    { c.op("cm", x, 0, 0, y, 0, 0) }
func (c *pdf) Push()                 { c.op("q") }
func (c *pdf) Pop()                  { c.op("Q") }

func (c *pdf) Stroke(path vg.Path) { c.trace(path); c.op("S") }
func (c *pdf) Fill(path vg.Path)   { c.trace(path); c.op("f") }

func (c *pdf) trace(path vg.Path) {
	for _, part := range path {
		switch part.Type {
		case vg.MoveComp:
			c.op("m", part.Pos.X.Points(), part.Pos.Y.Points())
		case vg.LineComp:
			c.op("l", part.Pos.X.Points(), part.Pos.Y.Points())
		case vg.ArcComp:
			c.arc(part)
		case vg.CloseComp:
			c.op("h")
		default:
			panic("figure: a curve in a PDF")
		}
	}
}

// arc draws a line to the beginning of an arc, and the arc in parts of at most a quarter circle,
// each approximated by a cubic curve through its ends and its middle.
func (c *pdf) arc(a vg.PathComp) {
	n := max(1, math.Ceil(math.Abs(a.Angle)/(math.Pi/2)-1e-9))
	step := a.Angle / n
	reach := 4. / 3 * math.Tan(step/4)
	x, y, r := a.Pos.X.Points(), a.Pos.Y.Points(), a.Radius.Points()
	sin, cos := math.Sincos(a.Start)
	c.op("l", x+r*cos, y+r*sin)
	for k := range int(n) {
		sin2, cos2 := math.Sincos(a.Start + float64(k+1)*step)
		c.op("c", x+r*(cos-reach*sin), y+r*(sin+reach*cos), x+r*(cos2+reach*sin2), y+r*(sin2-reach*cos2),
			x+r*cos2, y+r*sin2)
		sin, cos = sin2, cos2
	}
}

func (c *pdf) FillString(f font.Face, at vg.Point, text string) {
	i := slices.IndexFunc(c.fonts, func(e *embedded) bool { return e.font == f.Face })
	if i < 0 {
		i, c.fonts = len(c.fonts), append(c.fonts, &embedded{font: f.Face, runes: map[sfnt.GlyphIndex]rune{}})
	}
	fmt.Fprintf(&c.page, "BT /F%d %s Tf %s %s Td %s TJ ET\n", i, decimal(f.Font.Size.Points()), decimal(at.X.Points()),
		decimal(at.Y.Points()), c.fonts[i].show(text))
}

func (c *pdf) DrawImage(vg.Rectangle, image.Image) { panic("figure: an image in a PDF") }

// document is the file: its objects, and the offset of each.
func (c *pdf) document(title string) []byte {
	out := bytes.NewBufferString("%PDF-1.7\n%\xe2\xe3\xcf\xd3\n")
	var starts []int
	object := func(body string) int {
		starts = append(starts, out.Len())
		fmt.Fprintf(out, "%d 0 obj\n%s\nendobj\n", len(starts), body)
		return len(starts)
	}
	stream := func(entries string, content []byte) int {
		var packed bytes.Buffer
		z := zlib.NewWriter(&packed)
		z.Write(content) // a Buffer does not fail
		z.Close()
		return object(fmt.Sprintf("<< %s /Filter /FlateDecode /Length %d >>\nstream\n%s\nendstream", entries,
			packed.Len(), packed.Bytes()))
	}
	var fonts, states strings.Builder
	for i, f := range c.fonts {
		fmt.Fprintf(&fonts, "/F%d %d 0 R ", i, f.write(object, stream))
	}
	for i, alpha := range c.alphas {
		share := decimal(float64(alpha) / 255)
		fmt.Fprintf(&states, "/A%d << /ca %s /CA %s >> ", i, share, share)
	}
	content := stream("", c.page.Bytes())
	page := object(fmt.Sprintf("<< /Type /Page /Parent %d 0 R /MediaBox [0 0 %s %s] /Contents %d 0 R "+
		"/Resources << /Font << %s>> /ExtGState << %s>> >> >>", content+2, decimal(c.width.Points()),
		decimal(c.height.Points()), content, fonts.String(), states.String()))
	pages := object(fmt.Sprintf("<< /Type /Pages /Kids [%d 0 R] /Count 1 >>", page))
	root := object(fmt.Sprintf("<< /Type /Catalog /Pages %d 0 R >>", pages))
	info := object(fmt.Sprintf("<< /Title <feff%s> /Producer (gpc-tune) >>", utf16Hex(title)))
	table := out.Len()
	fmt.Fprintf(out, "xref\n0 %d\n0000000000 65535 f \n", len(starts)+1)
	for _, start := range starts {
		fmt.Fprintf(out, "%010d 00000 n \n", start)
	}
	fmt.Fprintf(out, "trailer\n<< /Size %d /Root %d 0 R /Info %d 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(starts)+1, root,
		info, table)
	return out.Bytes()
}
