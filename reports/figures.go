package reports

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/gpc-tune/gpc-tune/cv"
)

// renderSVG writes figures.svg: whatever of the report can be drawn, one section below the other.
//
//   - For every configuration that evaluated a grid of two hyperparameters: log evidence and test information as
//     contours over their natural logarithms, and the errors as numbers, as in GPML Figures 3.7 and 3.8.
//   - For every data set and evaluation: the curves of all configurations, or their test information with its intervals
//     where there are neither curves nor contours.
func renderSVG(w io.Writer, r *Report) error { return drawn(r).write(w, r.Experiment) }

func drawn(r *Report) *drawing {
	d := &drawing{}
	d.line("experiment", pageMargin+16, r.Experiment)
	if r.Missing > 0 {
		d.line("note", 20, fmt.Sprintf("incomplete: at least %d jobs are missing", r.Missing))
	}
	header := d.bottom
	short := r.shorten()
	for i, c := range r.Configurations {
		if l, ok := latticeOf(c.Grid); ok {
			n := named(short, member{index: i, configuration: c})
			n.heading = fmt.Sprintf("#%d %s", i, n.heading)
			d.lattice(c, l, n)
		}
	}
	for _, g := range r.groups() {
		n := named(short, g...)
		n.heading += " · " + g[0].Name
		d.curves(g, n)
		d.information(g, n)
	}
	if d.bottom == header {
		d.line("note", 30, "Nothing to draw: no grid of two hyperparameters, no curves and no test information are on record.")
	}
	return d
}

// member is one evaluation of a configuration in a picture of several; no evaluation if the picture is of its grid.
type member struct {
	index         int // of the configuration
	configuration Configuration
	Evaluation
}

// groups puts evaluations by the same name of the same data set together, in order of appearance.
func (r *Report) groups() (groups [][]member) {
	for i, c := range r.Configurations {
		for _, e := range c.Evaluations {
			g := slices.IndexFunc(groups, func(g []member) bool { return g[0].configuration.Dataset == c.Dataset && g[0].Name == e.Name })
			if g < 0 {
				g = len(groups)
				groups = append(groups, nil)
			}
			groups[g] = append(groups[g], member{i, c, e})
		}
	}
	return groups
}

// naming says what a picture shows.
type naming struct {
	heading string   // data set, likelihood and inference, as far as the members share them
	note    string   // what else they share
	members []string // how each differs from the others
}

// named finds what configurations share and how they differ.
func named(short map[string]string, members ...member) naming {
	labels := []string{"", "", "", "kernel ", "mean ", "preprocess ", "tune "} // those without belong to the heading
	words := make([][]string, len(members))
	for i, m := range members {
		c := m.configuration
		inference := short[c.Inference]
		if c.hybrid() {
			inference += " tuned with " + short[c.TuneInference]
		}
		words[i] = []string{c.Dataset, short[c.Likelihood], inference, short[c.Kernel], c.Mean, c.Preprocess, short[c.Tune]}
	}
	var heading, note []string
	names := make([][]string, len(members))
	for k, label := range labels {
		word := words[0][k]
		switch {
		case slices.ContainsFunc(words, func(w []string) bool { return w[k] != word }):
			for i := range names {
				names[i] = append(names[i], words[i][k])
			}
		case label == "":
			heading = append(heading, word)
		default:
			note = append(note, label+word)
		}
	}
	n := naming{heading: strings.Join(heading, " · "), note: strings.Join(note, ", ")}
	for i, m := range members {
		n.members = append(n.members, fmt.Sprintf("#%d %s", m.index, strings.Join(names[i], ", ")))
	}
	return n
}

// section begins a section of the picture.
func (d *drawing) section(heading string, notes ...string) {
	d.bottom += 14
	d.line("heading", 20, heading)
	notes = slices.DeleteFunc(notes, func(n string) bool { return n == "" })
	d.line("note", 17, strings.Join(notes, "; "))
	d.bottom += 6
}

// fewest is how many cases must be left at a point of a reject curve: the means of fewer jump about.
const fewest = 10

// curves draws every curve of the members of a group, side by side.
func (d *drawing) curves(group []member, n naming) {
	var names []string
	cut := ""
	for _, m := range group {
		for _, c := range m.Curves {
			if len(c.N) > 0 && !slices.Contains(names, c.Name) {
				names = append(names, c.Name)
			}
			if !c.Diagonal {
				cut = fmt.Sprintf("reject curves end where fewer than %d cases are left", fewest)
			}
		}
	}
	if len(names) == 0 {
		return
	}
	d.section(n.heading, n.note, cases(group), cut)
	const height = 330
	columns := max(2, len(names))
	for column, name := range names {
		var kind cv.Curve
		series := make([]cv.Series, len(group))
		var xs, ys []float64
		for i, m := range group {
			for _, c := range m.Curves {
				if c.Name != name {
					continue
				}
				kind = c.Curve
				for p, y := range c.Series.Y {
					if drawable(y) && (c.Diagonal || c.N[p] >= min(fewest, c.N[0])) {
						series[i].X, series[i].Y = append(series[i].X, c.Series.X[p]), append(series[i].Y, y)
					}
				}
			}
			xs, ys = append(xs, series[i].X...), append(ys, series[i].Y...)
		}
		if len(xs) == 0 {
			continue
		}
		if kind.Diagonal {
			xs = append(xs, ys...)
			ys = xs
		}
		f := frame{title: strings.ReplaceAll(name, "_", "-"), x: newAxis(kind.X, xs, 0.03), y: newAxis(kind.Y, ys, 0.03)}
		f.place(d, column, columns, height)
		f.rules(d)
		if kind.Diagonal {
			d.path("dashed", "", fmt.Sprintf("M%s %sL%s %s", px(f.x.from), px(f.y.from), px(f.x.to), px(f.y.to)))
		}
		for i, c := range series {
			d.curve(f, i, len(series), c)
		}
		f.draw(d)
	}
	d.bottom += height
	d.legend(n.members)
}

// looks tell curves apart in colour (those of Okabe & Ito, without yellow), and in grey by dashes and markers. Their
// numbers have no common factor, so that all combinations occur.
var (
	colours = []string{"#000000", "#d55e00", "#0072b2", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"}
	dashes  = []string{"none", "7,3", "2,2", "9,3,2,3"}
	markers = []string{"m-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0Z", "m-3.5-3.5h7v7h-7Z", "m0-5l5 8.5h-10Z", "m0-5l5 5l-5 5l-5-5Z", "m0 5l5-8.5h-10Z"}
)

// look is the look of the i-th curve of a picture: attributes of its line and of its markers, and a marker's outline.
func look(i int) (line, marker, outline string) {
	colour := colours[i%len(colours)]
	fill := colour
	if i/len(markers)%2 == 1 {
		fill = "#fff"
	}
	return fmt.Sprintf("stroke=%q stroke-dasharray=%q", colour, dashes[i%len(dashes)]), fmt.Sprintf("fill=%q stroke=%q", fill, colour), markers[i%len(markers)]
}

// curve draws the i-th curve of several: a line through its points, of which those too close to be told apart are left
// out, with markers on all of a few points, or on about eight that differ from curve to curve.
func (d *drawing) curve(f frame, i, of int, c cv.Series) {
	line, marker, outline := look(i)
	var path, marks strings.Builder
	var lastX, lastY float64
	next := f.x.from + (f.x.to-f.x.from)/8*float64(i)/float64(of)
	for p := range c.X {
		x, y := f.x.at(c.X[p]), f.y.at(c.Y[p])
		if len(c.X) <= 20 || x >= next {
			fmt.Fprintf(&marks, "M%s %s%s", px(x), px(y), outline)
			next += (f.x.to - f.x.from) / 8
		}
		if p > 0 && p < len(c.X)-1 && math.Hypot(x-lastX, y-lastY) < 1 {
			continue
		}
		fmt.Fprintf(&path, "%c%s %s", "ML"[min(p, 1)], px(x), px(y))
		lastX, lastY = x, y
	}
	if path.Len() > 0 {
		d.path("curve", line, path.String())
		d.path("marker", marker, marks.String())
	}
}

// legend explains the looks of curves, in as many columns as fit.
func (d *drawing) legend(names []string) {
	const sample, height = 44, 19
	width := 0.0
	for _, name := range names {
		width = max(width, sample+10+textWidth(name)+gap)
	}
	const indent = 40
	const page = pageWidth - 2*pageMargin - indent
	width = min(width, page)
	columns := int(page / width)
	for i, name := range names {
		if i%columns == 0 {
			d.bottom += height
		}
		x, y := pageMargin+indent+float64(i%columns)*width, d.bottom
		d.begin("key", name, x, y-14, min(width, sample+10+textWidth(name)), height)
		line, marker, outline := look(i)
		d.path("curve", line, fmt.Sprintf("M%s %sh%d", px(x), px(y-4), sample))
		d.path("marker", marker, fmt.Sprintf("M%s %s%s", px(x+sample/2), px(y-4), outline))
		d.text("key", x+sample+10, y, truncate(name, width-sample-10))
	}
	d.bottom += 8
}

// cases says how many predictions the members of a group have, if they have equally many.
func cases(group []member) string {
	n := group[0].Scores.N
	if slices.ContainsFunc(group, func(m member) bool { return m.Scores.N != n }) {
		return ""
	}
	return fmt.Sprintf("%d predictions", n)
}

// information draws the test information of the members of a group that have no other picture, with its 95 % interval.
func (d *drawing) information(group []member, n naming) {
	type row struct {
		name string
		cv.Estimate
	}
	var rows []row
	var ends []float64
	names := 0.0
	for i, m := range group {
		e, ok := m.Scores.Value("information_bits")
		if _, contours := latticeOf(m.configuration.Grid); !ok || !drawable(e.Value) || len(m.Curves) > 0 || contours {
			continue
		}
		rows = append(rows, row{n.members[i], e})
		names = max(names, textWidth(n.members[i]))
		for _, v := range []float64{e.Value, e.Lo, e.Hi} {
			if drawable(v) {
				ends = append(ends, v)
			}
		}
	}
	if len(rows) == 0 {
		return
	}
	d.section(n.heading, n.note, cases(group), "with 95 % intervals")
	const height = 22
	names = min(names, 400)
	f := frame{title: "test information", x: newAxis("bits per case; 0 is guessing", ends, 0.05)}
	top := d.bottom + 26
	f.x.from, f.x.to = pageMargin+names+12, pageWidth-pageMargin-150
	f.y.to, f.y.from = top, top+height*float64(len(rows))+8
	d.begin("panel", f.title, 0, d.bottom, pageWidth, f.y.from+42-d.bottom)
	f.rules(d)
	if f.x.lo < 0 && f.x.hi > 0 {
		d.path("dashed", "", fmt.Sprintf("M%s %sV%s", px(f.x.at(0)), px(f.y.from), px(f.y.to)))
	}
	for i, r := range rows {
		y := top + height*(float64(i)+0.5) + 4
		d.text("end", f.x.from-10, y+4, truncate(r.name, names))
		label := number(r.Value, 3)
		if drawable(r.Lo) && drawable(r.Hi) {
			d.path("curve", `stroke="#0072b2"`, fmt.Sprintf("M%s %sH%sm0-4v8M%s %sv8", px(f.x.at(r.Lo)), px(y), px(f.x.at(r.Hi)), px(f.x.at(r.Lo)), px(y-4)))
			label += fmt.Sprintf("  (%s – %s)", number(r.Lo, 3), number(r.Hi, 3))
		}
		d.path("marker", "", fmt.Sprintf("M%s %s%s", px(f.x.at(r.Value)), px(y), markers[0]))
		d.text("tick", f.x.to+10, y+4, label)
	}
	f.draw(d)
	d.bottom = f.y.from + 42
}
