package reports

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Sizes of a drawing, in CSS pixels.
const (
	pageWidth  = 1000
	pageMargin = 16
	gap        = 10 // between panels
)

// style is the look of a drawing. Text on top of colours has a white rim.
const style = `text{font-family:Helvetica,Arial,"Liberation Sans",sans-serif;font-size:12px;fill:#222}` +
	`.experiment{font-size:19px;font-weight:bold}.heading{font-size:15px;font-weight:bold}.note{fill:#555}.title{font-weight:bold}` +
	`.tick,.level{font-size:11px}.count{text-anchor:middle}.middle{text-anchor:middle}.end{text-anchor:end}` +
	`.level{text-anchor:middle;paint-order:stroke;stroke:#fff;stroke-width:2.5px;stroke-opacity:.75;stroke-linejoin:round}` +
	`.frame{fill:none;stroke:#222}.grid{fill:none;stroke:#ddd}.cell{stroke:#fff;stroke-width:.8}.contour{stroke:#444;stroke-width:.6}.curve{fill:none;stroke-width:1.8;stroke-linejoin:round}` +
	`.rim{fill:none;stroke:#fff;stroke-width:5}.best{fill:none;stroke:#000;stroke-width:2}.dashed{fill:none;stroke:#888;stroke-dasharray:5,4}`

// drawing is an SVG picture that grows downwards. y points down.
type drawing struct {
	body   bytes.Buffer
	bottom float64 // of what has been drawn
	parts  []part
}

// part is a stretch of a drawing that can be shown by itself: a line of text, a panel, or a key of a legend.
type part struct {
	class               string // of a line of text; else panel or key
	text                string // the whole line, or what a panel shows
	from                int    // where it starts in the body; it ends where the next one starts
	x, y, width, height float64
}

// begin starts a part.
func (d *drawing) begin(class, text string, x, y, width, height float64) {
	d.parts = append(d.parts, part{class, text, d.body.Len(), x, y, width, height})
}

// write writes the picture on white.
func (d *drawing) write(w io.Writer, title string) error {
	_, err := fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%s" viewBox="0 0 %[1]d %[2]s">
<title>%s</title>
<style>%s</style>
<rect width="100%%" height="100%%" fill="#fff"/>
%s</svg>
`, pageWidth, px(d.bottom+pageMargin), escape(title), style, d.body.Bytes())
	return err
}

// text puts a text with its base line at y. Classes say where it is anchored.
func (d *drawing) text(class string, x, y float64, text string) {
	fmt.Fprintf(&d.body, "<text class=%q x=%q y=%q>%s</text>\n", class, px(x), px(y), escape(text))
}

// line adds a line of text to the page.
func (d *drawing) line(class string, height float64, text string) {
	d.begin(class, text, 0, d.bottom, pageWidth, height)
	d.bottom += height
	d.text(class, pageMargin, d.bottom, truncate(text, pageWidth-2*pageMargin))
}

// path draws path data with attributes of the given class; attributes are added as they are.
func (d *drawing) path(class, attributes, data string) {
	if attributes != "" {
		attributes = " " + attributes
	}
	fmt.Fprintf(&d.body, "<path class=%q%s d=%q/>\n", class, attributes, data)
}

// escape makes text safe within an element; characters that XML forbids are replaced.
func escape(text string) string {
	var b strings.Builder
	xml.EscapeText(&b, []byte(text)) // a Builder does not fail
	return b.String()
}

// px writes a length, to a tenth of a pixel.
func px(x float64) string { return strconv.FormatFloat(math.Round(10*x)/10+0, 'f', -1, 64) } // + 0: no -0

// textWidth estimates the width of a text of 12 pixels; fonts differ.
func textWidth(text string) float64 { return 6.3 * float64(utf8.RuneCountInString(text)) }

// truncate shortens a text to a width.
func truncate(text string, width float64) string {
	if textWidth(text) <= width {
		return text
	}
	return string([]rune(text)[:max(0, int(width/textWidth("…"))-1)]) + "…"
}

// axis maps the values lo … hi to the pixels from … to.
type axis struct {
	label    string
	lo, hi   float64
	from, to float64
}

func (a axis) at(v float64) float64 { return a.from + (v-a.lo)/(a.hi-a.lo)*(a.to-a.from) }

// newAxis covers values, all drawable, with a margin on both sides as a share of their range.
func newAxis(label string, values []float64, margin float64) axis {
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, v := range values {
		lo, hi = min(lo, v), max(hi, v)
	}
	if least := 1e-6 * max(math.Abs(lo), math.Abs(hi), 1e-6); hi-lo < least { // a single value
		lo, hi = lo-least, hi+least
	}
	margin *= hi - lo
	return axis{label: label, lo: lo - margin, hi: hi + margin}
}

// drawable says if a number can be drawn; the bound keeps differences finite.
func drawable(v float64) bool { return math.Abs(v) < 1e150 }

// ticks are round values, at most the given number, and their labels.
func (a axis) ticks(most int) (at []float64, labels []string) {
	if !(a.lo < a.hi) {
		return nil, nil // there is no such axis
	}
	least := (a.hi - a.lo) / float64(most)
	exponent := math.Floor(math.Log10(least))
	step, digits := math.Pow(10, exponent+1), -int(exponent)-1
	for _, m := range []float64{5, 2} {
		if s := m * math.Pow(10, exponent); s >= least {
			step, digits = s, -int(exponent)
		}
	}
	first := math.Ceil(a.lo/step - 1e-9)
	for k := range most + 1 {
		if v := (first + float64(k)) * step; v <= a.hi+1e-9*step {
			at = append(at, v)
			labels = append(labels, number(v, max(0, digits)))
		}
	}
	return at, labels
}

// horizontal are ticks of an axis along x, so few that their labels do not touch.
func (a axis) horizontal() (at []float64, labels []string) {
	for most := 9; ; most-- {
		at, labels = a.ticks(most)
		width := 0.0
		for _, l := range labels {
			width += textWidth(l) + 8
		}
		if width <= a.to-a.from || most == 2 {
			return at, labels
		}
	}
}

// vertical are ticks of an axis along y.
func (a axis) vertical() (at []float64, labels []string) { return a.ticks(7) }

// number writes a number with a true minus sign.
func number(v float64, digits int) string {
	if v == 0 {
		v = 0 // not -0
	}
	text := strconv.FormatFloat(v, 'f', digits, 64)
	if math.Abs(v) >= 1e7 || digits > 6 {
		text = strconv.FormatFloat(v, 'g', 4, 64)
	}
	return strings.ReplaceAll(text, "-", "−")
}

// frame is the data area of a panel.
type frame struct {
	title string
	x, y  axis
	left  float64 // of the panel, where the label of y is
}

// place puts the panel in the given column of several, its top at the bottom of the page, with room for title and axes.
func (f *frame) place(d *drawing, column, columns int, height float64) {
	width := (pageWidth - 2*pageMargin - gap*float64(columns-1)) / float64(columns)
	left := pageMargin + float64(column)*(width+gap)
	d.begin("panel", f.title, left, d.bottom, width, height)
	f.y.from, f.y.to = d.bottom+height-42, d.bottom+25
	_, labels := f.y.vertical()
	widest := 0.0
	for _, l := range labels {
		widest = max(widest, textWidth(l))
	}
	f.x.from, f.x.to = left+min(24+widest, width/2), left+width-8
	f.left = left
}

// rules draws light lines at the ticks, below the data.
func (f frame) rules(d *drawing) {
	var b strings.Builder
	xs, _ := f.x.horizontal()
	for _, v := range xs {
		fmt.Fprintf(&b, "M%s %sV%s", px(f.x.at(v)), px(f.y.from), px(f.y.to))
	}
	ys, _ := f.y.vertical()
	for _, v := range ys {
		fmt.Fprintf(&b, "M%s %sH%s", px(f.x.from), px(f.y.at(v)), px(f.x.to))
	}
	d.path("grid", "", b.String())
}

// draw draws the frame with ticks, labels and title, above the data.
func (f frame) draw(d *drawing) {
	var b strings.Builder
	fmt.Fprintf(&b, "M%s %sH%sV%sH%sZ", px(f.x.from), px(f.y.from), px(f.x.to), px(f.y.to), px(f.x.from))
	xs, labels := f.x.horizontal()
	for i, v := range xs {
		fmt.Fprintf(&b, "M%s %sv4", px(f.x.at(v)), px(f.y.from))
		d.text("tick middle", f.x.at(v), f.y.from+16, labels[i])
	}
	ys, labels := f.y.vertical()
	for i, v := range ys {
		fmt.Fprintf(&b, "M%s %sh-4", px(f.x.from), px(f.y.at(v)))
		d.text("tick end", f.x.from-7, f.y.at(v)+4, labels[i])
	}
	d.path("frame", "", b.String())
	x, y := (f.x.from+f.x.to)/2, (f.y.from+f.y.to)/2
	d.text("title middle", x, f.y.to-13, truncate(f.title, f.x.to-f.x.from+40))
	d.text("middle", x, f.y.from+34, truncate(f.x.label, f.x.to-f.x.from))
	fmt.Fprintf(&d.body, "<text class=\"middle\" transform=\"translate(%s %s)rotate(-90)\">%s</text>\n", px(f.left+11), px(y), escape(truncate(f.y.label, f.y.from-f.y.to+40)))
}
