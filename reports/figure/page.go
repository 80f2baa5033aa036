package figure

import (
	"fmt"
	"image/color"
	"io"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// PNG writes figures, one below the other, as one image with 192 dots per inch: twice the size in
// pixels of the SVG in a page.
func PNG(w io.Writer, figures ...Figure) error { return boxed(w, figures, writePNG) }

func writePNG(w io.Writer, figures []Figure) error {
	p := stack(figures)
	c := vgimg.NewWith(vgimg.UseWH(p.scale*p.width, p.scale*p.depth), vgimg.UseDPI(192))
	p.print(c)
	_, err := vgimg.PngCanvas{Canvas: c}.WriteTo(w)
	return err
}

// stack lays figures out one below the other, all with the Print of the first.
func stack(figures []Figure) *page {
	all := &page{width: 1, depth: 1, scale: 1}
	for i, f := range figures {
		p := f.page()
		if i == 0 {
			all.depth, all.scale = 0, p.scale
		}
		from := all.depth
		all.width, all.depth = max(all.width, p.width), all.depth+p.depth
		all.add(func(c draw.Canvas) {
			c.Push()
			c.Translate(point{Y: 0 - from}) // avoids -0
			for _, part := range p.parts {
				part(c)
			}
			c.Pop()
		})
	}
	return all
}

// Parts returns the parts of a figure, for a page that arranges them by itself: the panels, and for
// every name of the legend a sample of its look.
func (f Figure) Parts() (panels []Figure, names []string, samples []Figure) {
	_, names = f.looks()
	for i, panel := range f.Panels {
		f.Title, f.part = panel.Title, i+1
		panels = append(panels, f)
	}
	for i, name := range names {
		f.Title, f.part = name, -i-1
		samples = append(samples, f)
	}
	return panels, names, samples
}

// looks assigns a look to every name of a figure: to marks, and to all others in the order of their
// appearance.
func (f Figure) looks() (of func(Layer) look, names []string) {
	series, marks := map[string]int{}, map[string]int{}
	next := 0
	for name, i := range f.Looks {
		series[name], next = i, max(next, i+1)
	}
	for _, p := range f.Panels {
		for _, l := range p.Layers {
			name := l.label()
			if name == "" {
				continue
			}
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
			_, mark := l.(Mark)
			if _, is := marks[name]; mark && !is {
				marks[name] = len(marks)
			}
			if _, is := series[name]; !mark && !is && !dashed(l) {
				series[name] = next
				next++
			}
		}
	}
	return func(l Layer) look {
		if _, is := l.(Mark); is {
			return look{index: marks[l.label()]}
		}
		if i, is := series[l.label()]; is {
			return lookOf(i, next)
		}
		return look{colour: color.NRGBA{A: 0xff}, width: 0.8, of: 1}
	}, names
}

// dashed reports whether a layer is for comparison; then it has the same look under every name.
func dashed(l Layer) bool {
	switch l := l.(type) {
	case Line:
		return l.Dashed
	case Contours:
		return l.Dashed
	}
	return false
}

// Distances on a page, in points.
const (
	margin = 10
	gap    = 12 // between panels
	// The minimum width of a panel with its labels. Panels that fit are side by side.
	narrowestPanel = 210
)

// page is a drawing that grows downwards, from 0 to -depth.
type page struct {
	width, depth vg.Length
	scale        vg.Length // factor from the page to the printed size
	parts        []func(c draw.Canvas)
}

// print draws the page at its scale.
func (p *page) print(c vg.CanvasSizer) {
	c.Scale(float64(p.scale), float64(p.scale))
	p.draw(draw.New(c))
}

func (p *page) draw(canvas draw.Canvas) {
	canvas.Translate(point{Y: p.depth})
	for _, part := range p.parts {
		part(canvas)
	}
}

func (p *page) add(part func(c draw.Canvas)) { p.parts = append(p.parts, part) }

// text adds lines of text.
func (p *page) text(l textStyle, text string) {
	lines := l.wrap(text, p.width-2*margin, 4)
	from := point{X: margin, Y: -p.depth}
	p.depth += vg.Length(len(lines)) * l.line()
	p.add(func(c draw.Canvas) { l.block(c, from, 0, lines) })
}

// box adds a text in a frame.
func (p *page) box(text string) {
	const inside = 8
	lines := plain.wrap(text, p.width-2*margin-2*inside, 12)
	top := -p.depth
	p.depth += vg.Length(len(lines))*plain.line() + 2*inside
	bottom := -p.depth
	p.add(func(c draw.Canvas) {
		frame := []point{{X: margin, Y: top}, {X: p.width - margin, Y: top}, {X: p.width - margin, Y: bottom},
			{X: margin, Y: bottom}, {X: margin, Y: top}}
		c.StrokeLines(draw.LineStyle{Color: color.NRGBA{0xb0, 0, 0, 0xff}, Width: 1}, frame)
		plain.block(c, point{X: margin + inside, Y: top - inside}, 0, lines)
	})
}

// page lays out the figure.
func (f Figure) page() *page {
	looks, names := f.looks()
	if f.part < 0 {
		p := &page{width: 2*half + 4, depth: 16, scale: 1}
		p.add(func(c draw.Canvas) { f.sample(c, point{X: half + 2, Y: -8}, looks, names[-f.part-1]) })
		return p
	}
	columns := max(1, min(f.Columns, len(f.Panels)))
	p := &page{width: []vg.Length{460, 720, 860}[min(columns, 3)-1], depth: 8, scale: 1}
	if columns == 1 && len(f.Panels) == 1 && f.Panels[0].Square {
		p.width = 380
	}
	if f.part == 0 {
		p.scale = f.Print.scale()
		if f.Print.Width > 0 {
			p.width = vg.Length(f.Print.Width) / p.scale
			columns = max(1, min(columns, int((p.width-2*margin)/narrowestPanel)))
		}
	}
	highest := vg.Length(225) // maximum height of square panels
	if columns == 1 {
		highest = 320
	}
	width := (p.width - 2*margin - gap*vg.Length(columns-1)) / vg.Length(columns)
	panels := f.Panels
	if f.part > 0 {
		p.width, columns, panels, names = width+2*margin, 1, panels[f.part-1:f.part], nil
	} else if !f.Print.Untitled {
		p.text(headline, f.Title)
		p.depth += 2
		for _, n := range f.Notes {
			p.text(note, n)
		}
		p.depth += 8
	}
	if f.Failure != "" {
		p.box("This figure could not be drawn: " + f.Failure)
	}
	left := make([]vg.Length, columns)
	frames := make([]*frame, len(panels))
	for i, panel := range panels {
		frames[i] = newFrame(panel, width)
		frames[i].least = leastText / p.scale
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

// legend adds the names with their samples, in one row, or in as many columns as fit.
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

// sample draws the look of the layers with a name, around a point.
func (f Figure) sample(c draw.Canvas, at point, looks func(Layer) look, name string) {
	everywhere := &pane{Canvas: within(c, point{Y: -1e6}, point{X: 1e6})}
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
