// Package figure draws pictures that are plain data: a Figure has panels, a panel has two axes and
// layers (lines, points, bars, bands, intervals, contours), and SVG, PNG and PDF write it.
// Coordinates are those of the data; an axis may be logarithmic. What cannot be drawn, such as NaN,
// is left out. The same figure gives the same bytes.
//
// The package knows nothing of reports.
package figure

// Figure is one picture: panels in rows, with one legend for all of them. What has the same Name in
// its layers has the same look, and one entry in the legend.
type Figure struct {
	Name    string   `json:"name"` // of its file: lower-case letters, digits, hyphens
	Kind    string   `json:"-"`    // of picture
	Of      []int    `json:"-"`    // indices of what it shows, where it does not show all
	Title   string   `json:"title"`
	Notes   []string `json:"notes,omitempty"` // below the title
	Columns int      `json:"columns"`         // panels side by side
	Panels  []Panel  `json:"panels"`
	// names that have the first looks, in this order, whether or not they occur: those of classes
	// look alike in all figures
	First []string `json:"-"`
	Print Print    `json:"-"`
	part  int      // i: the i-th panel alone; -i: the sample of the i-th name alone; from 1
}

// Panel is a pair of axes and what is drawn over them, in order: later layers hide earlier ones.
type Panel struct {
	Title  string  `json:"title"`
	X      Axis    `json:"x"`
	Y      Axis    `json:"y"`
	Square bool    `json:"square,omitempty"` // both axes have one scale
	Layers []Layer `json:"layers"`
}

// Axis is one of the two axes. With Lo = Hi it spans what is drawn.
type Axis struct {
	Label string  `json:"label"` // with its unit: "test information (bits)"
	Lo    float64 `json:"lo"`
	Hi    float64 `json:"hi"`
	// places are natural logarithms of the numbers that the axis shows
	Log bool `json:"log,omitempty"`
	// of the places 0, 1, … in place of numbers; along Y the first is at the top
	Names []string `json:"names,omitempty"`
}

// Layer is what a panel draws: one of the types of this package, a file each. Places that are not
// finite, or beyond 1e150, are left out.
type Layer interface {
	label() string                    // in the legend; none if empty
	extent() (x, y span)              // what the axes must show
	draw(p *pane, l look)             // in the data area
	sample(p *pane, at point, l look) // in the legend, around a place
}
