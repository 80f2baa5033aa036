package figure

import (
	"bytes"
	"fmt"
	"html"
	"image/color"
	"io"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// SVG writes figures, one below the other, as one svg element, which is a file of its own or a part
// of a page.
func SVG(w io.Writer, figures ...Figure) error {
	p := stack(figures)
	c := vgsvg.New(p.width, p.depth)
	p.draw(c)
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return err
	}
	_, body, _ := strings.Cut(b.String(), "<g ") // what stands before it is written below
	body = strings.NewReplacer(
		"font-family:Liberation Sans;font-variant:normal;font-weight:normal;font-style:normal;", "",
		"font-family:Liberation Sans;font-variant:normal;font-weight:bold;font-style:normal;", "font-weight:bold;",
		"\n\t", " ").Replace(body)
	var titles []string
	style, paper := "", "\n"+`<rect width="100%" height="100%" fill="#fff"/>`
	for _, f := range figures {
		titles = append(titles, f.Title)
		if f.part != 0 {
			// a page shrinks it as far as it can be read, and is its paper
			style, paper = fmt.Sprintf(` style="min-width:%.0fpt"`, 0.68*p.width), ""
		}
	}
	title := html.EscapeString(clean(strings.Join(titles, "; ")))
	_, err := fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" width="%gpt" height="%gpt" viewBox="0 0 %[1]g %[2]g"%s role="img" aria-label="%s" font-family="Liberation Sans,Arial,Helvetica,sans-serif">
<title>%[4]s</title>%s
<g %s`, p.width.Points(), p.depth.Points(), style, title, paper, body)
	return err
}

// PNG writes figures, one below the other, as one picture of 192 dots per inch, twice the size of
// its SVG in the pixels of a page.
func PNG(w io.Writer, figures ...Figure) error {
	p := stack(figures)
	c := vgimg.NewWith(vgimg.UseWH(p.width, p.depth), vgimg.UseDPI(192))
	p.draw(c)
	_, err := vgimg.PngCanvas{Canvas: c}.WriteTo(w)
	return err
}

// stack lays figures out, one below the other.
func stack(figures []Figure) *page {
	all := &page{width: 1, depth: 1}
	for i, f := range figures {
		p := f.page()
		if i == 0 {
			all.depth = 0
		}
		from := all.depth
		all.width, all.depth = max(all.width, p.width), all.depth+p.depth
		all.add(func(c draw.Canvas) {
			c.Push()
			c.Translate(point{Y: 0 - from}) // not -0
			for _, part := range p.parts {
				part(c)
			}
			c.Pop()
		})
	}
	return all
}

// Distances on a page, in points.
const (
	margin = 10
	gap    = 12 // of panels
	half   = 14 // of the width of a sample in the legend
)

// page is a drawing that grows downwards, from 0 to -depth.
type page struct {
	width, depth vg.Length
	parts        []func(c draw.Canvas)
}

func (p *page) draw(c vg.CanvasSizer) {
	canvas := draw.New(c)
	canvas.Translate(point{Y: p.depth})
	for _, part := range p.parts {
		part(canvas)
	}
}

func (p *page) add(part func(c draw.Canvas)) { p.parts = append(p.parts, part) }

// text adds lines of text.
func (p *page) text(l letters, text string) {
	lines := l.wrap(text, p.width-2*margin, 4)
	from := point{X: margin, Y: -p.depth}
	p.depth += vg.Length(len(lines)) * l.line()
	p.add(func(c draw.Canvas) { l.block(c, from, 0, lines) })
}

// page lays the figure out.
func (f Figure) page() *page {
	looks, names := f.looks()
	if f.part < 0 {
		p := &page{width: 2*half + 4, depth: 16}
		p.add(func(c draw.Canvas) { f.sample(c, point{X: half + 2, Y: -8}, looks, names[-f.part-1]) })
		return p
	}
	columns := max(1, min(f.Columns, len(f.Panels)))
	p := &page{width: []vg.Length{460, 720, 860}[min(columns, 3)-1], depth: 8}
	highest := vg.Length(225) // of square panels
	if columns == 1 {
		highest = 320
		if len(f.Panels) == 1 && f.Panels[0].Square {
			p.width = 380
		}
	}
	width := (p.width - 2*margin - gap*vg.Length(columns-1)) / vg.Length(columns)
	panels := f.Panels
	if f.part > 0 {
		p.width, columns, panels, names = width+2*margin, 1, panels[f.part-1:f.part], nil
	} else {
		p.text(headline, f.Title)
		p.depth += 2
		for _, n := range f.Notes {
			p.text(note, n)
		}
		p.depth += 8
	}
	left := make([]vg.Length, columns)
	frames := make([]*frame, len(panels))
	for i, panel := range panels {
		frames[i] = newFrame(panel, width)
		left[i%columns] = max(left[i%columns], frames[i].left())
	}
	for i := 0; i < len(frames); i += columns {
		row := frames[i:min(i+columns, len(frames))]
		var above, below vg.Length
		for k, r := range row {
			r.fit(width-left[k], highest)
			above, below = max(above, r.above()), max(below, r.below())
		}
		for k, r := range row {
			at := point{X: margin + (width+gap)*vg.Length(k) + left[k], Y: -p.depth - above}
			p.add(func(c draw.Canvas) { r.draw(c, at, looks) })
		}
		p.depth += above + below
		if f.part == 0 {
			p.depth += gap
		}
	}
	f.legend(p, looks, names)
	p.depth = vg.Length(int(p.depth + margin))
	return p
}

// legend adds the names with what is drawn of them, in one row, or in as many columns as fit.
func (f Figure) legend(p *page, looks func(Layer) look, names []string) {
	const sample, after = 2*half + 6, 18
	inner := p.width - 2*margin
	entries := make([][]string, len(names))
	widths := make([]vg.Length, len(names))
	var widest, sum vg.Length
	for i, name := range names {
		entries[i] = plain.wrap(name, inner-sample, 3)
		widths[i] = sample + plain.widest(entries[i]) + after
		widest, sum = max(widest, widths[i]), sum+widths[i]
	}
	columns := len(names)
	if sum > inner+after {
		columns = max(1, int((inner+after)/widest))
		widths = slices.Repeat([]vg.Length{widest}, len(names))
	}
	var x vg.Length
	lines := 0
	for i, entry := range entries {
		if i%columns == 0 {
			p.depth += vg.Length(lines) * (plain.line() + 2)
			x, lines = margin+half, 1
		}
		at := point{X: x, Y: -p.depth - plain.line()/2}
		p.add(func(c draw.Canvas) {
			f.sample(c, at, looks, names[i])
			plain.block(c, point{X: at.X + half + 6, Y: at.Y + plain.line()/2}, 0, entry)
		})
		x, lines = x+widths[i], max(lines, len(entry))
	}
	p.depth += vg.Length(lines) * (plain.line() + 2)
}

// sample draws what layers of a name look like, around a place.
func (f Figure) sample(c draw.Canvas, at point, looks func(Layer) look, name string) {
	everywhere := &pane{Canvas: draw.Canvas{Canvas: c.Canvas,
		Rectangle: vg.Rectangle{Min: point{Y: -1e6}, Max: point{X: 1e6}}}}
	drawn := map[string]bool{}
	for _, panel := range f.Panels {
		for _, l := range panel.Layers {
			if kind := fmt.Sprintf("%T", l); l.label() == name && !drawn[kind] {
				drawn[kind] = true
				l.sample(everywhere, at, looks(l))
			}
		}
	}
}

// frame is a panel on its way to the page: its data area with titles, ticks and labels.
type frame struct {
	Panel
	pane
	width, height vg.Length // of the data area
	title         []string
	xLabel        []string
	yLabel        []string
	xAt, yAt      []float64
	xTicks        [][]string // lines
	yTicks        [][]string
	turned        bool // the ticks along x
}

const tick = 3.5 // length

func newFrame(panel Panel, width vg.Length) *frame {
	f := &frame{Panel: panel, height: 225}
	var xs, ys []span
	for _, l := range panel.Layers {
		x, y := l.extent()
		xs, ys = append(xs, x), append(ys, y)
	}
	f.pane.x, f.pane.y = panel.X.shown(xs), panel.Y.shown(ys)
	if n := len(panel.Y.Names); n > 0 {
		f.down = true
		lines := 1
		for i, name := range panel.Y.Names {
			f.yAt, f.yTicks = append(f.yAt, float64(i)), append(f.yTicks, small.wrap(name, 0.42*width, 3))
			lines = max(lines, len(f.yTicks[i]))
		}
		f.height = vg.Length(n) * (vg.Length(lines)*small.line() + 6)
	} else {
		at, labels := f.pane.y.ticks(7)
		f.yAt = at
		for _, l := range labels {
			f.yTicks = append(f.yTicks, []string{l})
		}
	}
	f.yLabel = plain.wrap(panel.Y.Label, f.height+40, 2)
	return f
}

// left is the width of what stands left of the data area.
func (f *frame) left() vg.Length {
	var widest vg.Length
	for _, lines := range f.yTicks {
		widest = max(widest, small.widest(lines))
	}
	return widest + tick + 7 + vg.Length(len(f.yLabel))*plain.line()
}

// fit gives the data area a width, of which what stands right of it needs some, and a square one
// its height.
func (f *frame) fit(width, highest vg.Length) {
	const right = 8
	f.width = width - right
	if ratio := vg.Length((f.pane.y.hi - f.pane.y.lo) / (f.pane.x.hi - f.pane.x.lo)); f.Square {
		f.height = min(f.width*ratio, highest)
		f.width = f.height / ratio
	}
	f.title = heading.wrap(f.Panel.Title, width, 2)
	f.xLabel = plain.wrap(f.Panel.X.Label, f.width+right, 2)
	if len(f.Panel.X.Names) > 0 {
		f.nameX()
		return
	}
	for most := 9; most >= 2; most-- {
		at, labels := f.pane.x.ticks(most)
		f.xAt, f.xTicks = at, nil
		var sum vg.Length
		for _, l := range labels {
			f.xTicks = append(f.xTicks, []string{l})
			sum += small.width(l) + 7
		}
		if sum <= f.width {
			return
		}
	}
}

// nameX labels the ticks along x with names: on lines, or else upwards.
func (f *frame) nameX() {
	names := f.Panel.X.Names
	slot := f.width / vg.Length(len(names))
	for i, name := range names {
		lines := small.wrap(name, slot-4, 3)
		f.xAt, f.xTicks = append(f.xAt, float64(i)), append(f.xTicks, lines)
		f.turned = f.turned || strings.Contains(strings.Join(lines, " "), "…")
	}
	if !f.turned {
		return
	}
	step := max(1, int(small.line()/slot+0.999)) // names that are left out have no room
	f.xAt, f.xTicks = nil, nil
	for i := 0; i < len(names); i += step {
		f.xAt, f.xTicks = append(f.xAt, float64(i)), append(f.xTicks, []string{small.cut(names[i], 130)})
	}
}

// above is the height of what stands above the data area.
func (f *frame) above() vg.Length { return vg.Length(len(f.title))*heading.line() + 7 }

// below is the height of the data area and of what stands below it.
func (f *frame) below() vg.Length {
	return f.height + f.ticksHeight() + vg.Length(len(f.xLabel))*plain.line()
}

func (f *frame) ticksHeight() (h vg.Length) {
	for _, lines := range f.xTicks {
		if f.turned {
			h = max(h, small.widest(lines))
		} else {
			h = max(h, vg.Length(len(lines))*small.line())
		}
	}
	return h + tick + 3
}

// draw draws the panel, the upper left corner of its data area at a place.
func (f *frame) draw(c draw.Canvas, at point, looks func(Layer) look) {
	p := &f.pane
	p.Canvas = draw.Canvas{Canvas: c.Canvas,
		Rectangle: vg.Rectangle{Min: point{X: at.X, Y: at.Y - f.height}, Max: point{X: at.X + f.width, Y: at.Y}}}
	place := func(x, y float64) point { at, _ := p.at(x, y); return at }
	var grid, ticks [][]point
	for i, v := range f.xAt {
		at := point{X: place(v, p.y.lo).X, Y: p.Min.Y}
		grid = append(grid, []point{at, {X: at.X, Y: p.Max.Y}})
		ticks = append(ticks, []point{at, {X: at.X, Y: at.Y - tick}})
		if f.turned {
			small.turned(c, point{X: at.X - small.line()/2, Y: at.Y - tick - 3}, 1, f.xTicks[i])
		} else {
			small.block(c, point{X: at.X, Y: at.Y - tick - 1}, 0.5, f.xTicks[i])
		}
	}
	for i, v := range f.yAt {
		at := point{X: p.Min.X, Y: place(p.x.lo, v).Y}
		grid = append(grid, []point{at, {X: p.Max.X, Y: at.Y}})
		ticks = append(ticks, []point{at, {X: at.X - tick, Y: at.Y}})
		small.block(c, point{X: at.X - tick - 3, Y: at.Y + vg.Length(len(f.yTicks[i]))*small.line()/2}, 1, f.yTicks[i])
	}
	p.lines(look{colour: color.NRGBA{0, 0, 0, 0x22}, width: 0.5}, grid...)
	for _, l := range f.Layers {
		switch l := l.(type) {
		case Mark:
			if at, ok := p.at(l.X, l.Y); ok {
				p.busy = append(p.busy, at)
			}
		case Points:
			for i := range min(len(l.X), 1000) {
				if at, ok := p.at(l.X[i], l.Y[i]); ok {
					p.points = append(p.points, at)
				}
			}
		}
	}
	for _, l := range f.Layers {
		l.draw(p, looks(l))
	}
	edge := pane{Canvas: draw.Canvas{Canvas: c.Canvas,
		Rectangle: vg.Rectangle{Min: p.Min.Sub(point{X: 9, Y: 9}), Max: p.Max.Add(point{X: 9, Y: 9})}}}
	edge.lines(look{colour: color.NRGBA{0x22, 0x22, 0x22, 0xff}, width: 0.75},
		append(ticks, []point{p.Min, {X: p.Max.X, Y: p.Min.Y}, p.Max, {X: p.Min.X, Y: p.Max.Y}, p.Min})...)
	middle := point{X: (p.Min.X + p.Max.X) / 2, Y: (p.Min.Y + p.Max.Y) / 2}
	heading.block(c, point{X: middle.X, Y: p.Max.Y + f.above()}, 0.5, f.title)
	plain.block(c, point{X: middle.X, Y: p.Min.Y - f.ticksHeight()}, 0.5, f.xLabel)
	plain.turned(c, point{X: p.Min.X - f.left(), Y: middle.Y}, 0.5, f.yLabel)
}
