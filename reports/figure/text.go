package figure

import (
	"fmt"
	"image/color"
	"math"
	"sort"
	"strings"
	"sync"
	"unicode"

	"codeberg.org/go-fonts/liberation/liberationsansbold"
	"codeberg.org/go-fonts/liberation/liberationsansregular"
	weight "golang.org/x/image/font"
	"golang.org/x/image/font/opentype"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/gpc-tune/gpc-tune/internal/terminal"
)

// Text widths are measured in Liberation Sans; Arial and Helvetica have the same widths.
var (
	regular = sync.OnceValue(func() *opentype.Font { return parsed(liberationsansregular.TTF) })
	bold    = sync.OnceValue(func() *opentype.Font { return parsed(liberationsansbold.TTF) })
)

func parsed(ttf []byte) *opentype.Font {
	f, err := opentype.Parse(ttf)
	if err != nil {
		panic(fmt.Sprintf("figure: the font that is compiled in: %v", err))
	}
	return f
}

// textStyle are a font, a size and a colour.
type textStyle struct {
	size   vg.Length
	bold   bool
	colour color.Color
}

var (
	ink      = color.Gray{0x22}
	pale     = color.Gray{0x55}
	headline = textStyle{12, true, ink}
	note     = textStyle{9, false, pale}
	heading  = textStyle{9.5, true, ink}
	plain    = textStyle{9, false, ink}
	small    = textStyle{8, false, ink}
)

const noBreak = 0xa0 // a space at which no line breaks

const leading = 1.25 // distance of lines, relative to the font size

func (l textStyle) line() vg.Length { return leading * l.size }

func (l textStyle) face() font.Face {
	f := font.Face{Font: font.Font{Typeface: "Liberation", Variant: "Sans", Size: l.size}, Face: regular()}
	if l.bold {
		f.Font.Weight, f.Face = weight.WeightBold, bold()
	}
	return f
}

// width is the width of a text on one line.
func (l textStyle) width(text string) vg.Length {
	f := l.face()
	return f.Width(clean(text))
}

// widest is the width of the widest of several lines.
func (l textStyle) widest(lines []string) (w vg.Length) {
	for _, line := range lines {
		w = max(w, l.width(line))
	}
	return w
}

// clean replaces characters that figures cannot contain: line ends, unprintable characters, and
// 0xfffe and 0xffff, which XML forbids.
func clean(text string) string {
	return terminal.Printable(strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r) && r != noBreak:
			return ' '
		case r == 0xfffe || r == 0xffff:
			return unicode.ReplacementChar
		}
		return r
	}, text))
}

// cut shortens a text to a width.
func (l textStyle) cut(text string, width vg.Length) string {
	if l.width(text) <= width {
		return text
	}
	runes := []rune(clean(text))
	n := sort.Search(min(len(runes), 1000), func(n int) bool { return l.width(string(runes[:n+1])+"…") > width })
	return string(runes[:n]) + "…"
}

// wrap breaks a text between words into at most this many lines, and cuts the rest.
func (l textStyle) wrap(text string, width vg.Length, most int) (lines []string) {
	line := ""
	words := strings.FieldsFunc(clean(text), func(r rune) bool { return r == ' ' })
	for i, word := range words {
		next := strings.TrimSpace(line + " " + word)
		if line == "" || l.width(next) <= width {
			line = next
			continue
		}
		if len(lines) == most-1 {
			return append(lines, l.cut(line+" "+strings.Join(words[i:min(len(words), i+100)], " "), width))
		}
		lines, line = append(lines, l.cut(line, width)), word
	}
	if line == "" {
		return lines
	}
	return append(lines, l.cut(line, width))
}

// write writes a text with its baseline at a point, which is at the given fraction of its width.
func (l textStyle) write(c draw.Canvas, at point, share vg.Length, text string) {
	c.SetColor(l.colour)
	text = clean(text)
	f := l.face()
	at.X -= share * f.Width(text)
	c.FillString(f, at, text)
}

// block writes lines, the first one below a point, and returns the point below the last.
func (l textStyle) block(c draw.Canvas, at point, share vg.Length, lines []string) point {
	for _, line := range lines {
		at.Y -= l.line()
		l.write(c, point{X: at.X, Y: at.Y + (leading-1)*l.size}, share, line)
	}
	return at
}

// turned writes lines upwards, the first one to the right of a point, which is at the given
// fraction of their width.
func (l textStyle) turned(c draw.Canvas, at point, share vg.Length, lines []string) {
	c.Push()
	c.Rotate(math.Pi / 2)
	l.block(c, point{X: at.Y, Y: -at.X}, share, lines)
	c.Pop()
}
