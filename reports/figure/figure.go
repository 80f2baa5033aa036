// Package figure draws pictures that are plain data: a Figure has panels, a panel has two axes and
// layers (lines, points, bars, bands, intervals, contours), and SVG, PNG and PDF write it.
// Coordinates are in the units of the data; an axis may be logarithmic. What cannot be drawn, such
// as NaN, is left out. The same figure gives the same bytes.
//
// The package does not import reports.
package figure

// Figure is one picture: panels in rows, with a common legend. Layers with the same Name have the
// same look, and one entry in the legend.
type Figure struct {
	Name    string   `json:"name"` // name of the file: lower-case letters, digits, hyphens
	Kind    string   `json:"-"`    // the kind of picture
	Of      []int    `json:"-"`    // indices of the configurations shown, unless all are
	Title   string   `json:"title"`
	Notes   []string `json:"notes,omitempty"` // below the title
	Columns int      `json:"columns"`         // number of panels side by side
	Panels  []Panel  `json:"panels"`
	// Index of the look of each name that must look the same in all figures; other names get the
	// next looks.
	Looks map[string]int `json:"-"`
	Print Print          `json:"-"`
	// why it could not be drawn; then it has no panels, and is a box with this text
	Failure string `json:"failure,omitempty"`
	part    int    // i: only the i-th panel; -i: only the legend sample of the i-th name; from 1
}

// Panel is a pair of axes and its layers in order: later layers cover earlier ones.
type Panel struct {
	Title  string  `json:"title"`
	X      Axis    `json:"x"`
	Y      Axis    `json:"y"`
	Square bool    `json:"square,omitempty"` // both axes have the same scale
	Layers []Layer `json:"layers"`
}

// Axis is one of the two axes. If Lo = Hi, its range covers the layers.
type Axis struct {
	Label string  `json:"label"` // text with the unit: "test information (bits)"
	Lo    float64 `json:"lo"`
	Hi    float64 `json:"hi"`
	// The coordinates are natural logarithms of the numbers on the axis.
	Log bool `json:"log,omitempty"`
	// Labels of the positions 0, 1, … instead of numbers; along Y the first is at the top.
	Names []string `json:"names,omitempty"`
}

// Layer is drawn in a panel. It is one of the types of this package, one file each. Coordinates
// that are not finite, or beyond 1e150, are left out.
type Layer interface {
	label() string                    // name in the legend; empty: no entry
	extent() (x, y span)              // the range that the axes must cover
	draw(p *pane, l look)             // draws the layer in the data area
	sample(p *pane, at point, l look) // draws its sample in the legend around a point
}
