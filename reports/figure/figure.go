// Package figure draws pictures that are plain data: panels of layers over two axes. It knows nothing of reports.
package figure

// Figure is one picture: panels in rows, with one legend for all of them. What has the same Name in its layers has the same
// look, and one entry in the legend.
type Figure struct {
	Name    string   `json:"name"` // of its file: lower-case letters, digits, hyphens
	Title   string   `json:"title"`
	Notes   []string `json:"notes,omitempty"` // below the title
	Columns int      `json:"columns"`         // panels side by side
	Panels  []Panel  `json:"panels"`
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
	Label string   `json:"label"` // with its unit: "test information (bits)"
	Lo    float64  `json:"lo"`
	Hi    float64  `json:"hi"`
	Names []string `json:"names,omitempty"` // of the places 0, 1, … in place of numbers
}

// Layer is what a panel draws: one of the types of this package, a file each.
type Layer interface{ layer() }

// Line joins points in their order.
type Line struct {
	Name    string    `json:"name,omitempty"` // in the legend; lines without one are black, thin and not in it
	X       []float64 `json:"x"`
	Y       []float64 `json:"y"`
	Markers bool      `json:"markers,omitempty"` // on all points if they are few, else on some
	Dashed  bool      `json:"dashed,omitempty"`  // a line to compare with: a diagonal, a chance level
}

// Points are places that are not joined. What they are of is told by colour and by symbol.
type Points struct {
	Name   string    `json:"name,omitempty"`
	X      []float64 `json:"x"`
	Y      []float64 `json:"y"`
	Hollow bool      `json:"hollow,omitempty"`
}

// Intervals are points with a bar along Y (or along X, where they are Horizontal) from Lo to Hi.
type Intervals struct {
	Name       string    `json:"name,omitempty"`
	X          []float64 `json:"x"`
	Y          []float64 `json:"y"`
	Lo         []float64 `json:"lo"`
	Hi         []float64 `json:"hi"`
	Horizontal bool      `json:"horizontal,omitempty"`
}

// Band fills what is between two curves over X, so that what is below it can be seen.
type Band struct {
	Name string    `json:"name,omitempty"`
	X    []float64 `json:"x"`
	Lo   []float64 `json:"lo"`
	Hi   []float64 `json:"hi"`
}

// Bars are a histogram: Heights[i] from Edges[i] to Edges[i+1].
type Bars struct {
	Name    string    `json:"name,omitempty"`
	Edges   []float64 `json:"edges"`
	Heights []float64 `json:"heights"`
}

// Contours are labelled level lines of Z over a rectangular lattice, on shades of the value unless Plain. NaN is a hole.
type Contours struct {
	X      []float64   `json:"x"`                // columns, ascending
	Y      []float64   `json:"y"`                // rows, ascending
	Z      [][]float64 `json:"z"`                // Z[row][column]
	Levels []float64   `json:"levels,omitempty"` // empty: about eight round ones
	Plain  bool        `json:"plain,omitempty"`
}

// Numbers are cells around the places of a lattice, shaded by value, each with its integer in it. NaN is a hole.
type Numbers struct {
	X []float64   `json:"x"`
	Y []float64   `json:"y"`
	Z [][]float64 `json:"z"`
}

// Mark is a symbol that stands out at one place: a winner, a start.
type Mark struct {
	Name string  `json:"name"`
	X    float64 `json:"x"`
	Y    float64 `json:"y"`
}

func (Line) layer()      {}
func (Points) layer()    {}
func (Intervals) layer() {}
func (Band) layer()      {}
func (Bars) layer()      {}
func (Contours) layer()  {}
func (Numbers) layer()   {}
func (Mark) layer()      {}
