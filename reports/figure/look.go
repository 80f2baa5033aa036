package figure

import (
	"image/color"
	"math"

	"gonum.org/v1/plot/vg"
)

// point is a position on the page.
type point = vg.Point

// look distinguishes names by colour, and in grey by dashes and markers. The numbers of these have
// no common factor, so that all combinations occur. The zero look is for layers without a name.
type look struct {
	colour color.NRGBA
	dashes []vg.Length
	marker outline
	hollow bool
	width  vg.Length
	index  int // index among the names of a figure
	of     int // number of these names
}

// colours is the palette of Okabe & Ito, without yellow.
var colours = []color.NRGBA{
	{0x00, 0x72, 0xb2, 0xff}, {0xd5, 0x5e, 0x00, 0xff}, {0x00, 0x9e, 0x73, 0xff}, {0xcc, 0x79, 0xa7, 0xff},
	{0x00, 0x00, 0x00, 0xff}, {0xe6, 0x9f, 0x00, 0xff}, {0x56, 0xb4, 0xe9, 0xff},
}

var dashes = [][]vg.Length{nil, {5, 2.2}, {1.6, 1.6}, {7, 2, 1.6, 2}}

// outline is a closed shape around a point; without corners it is a circle.
type outline []point

var (
	circle   outline
	square   = outline{{X: -0.88, Y: -0.88}, {X: 0.88, Y: -0.88}, {X: 0.88, Y: 0.88}, {X: -0.88, Y: 0.88}}
	pyramid  = outline{{X: 0, Y: 1.2}, {X: -1.1, Y: -0.8}, {X: 1.1, Y: -0.8}}
	diamond  = outline{{X: 0, Y: 1.25}, {X: -1.25, Y: 0}, {X: 0, Y: -1.25}, {X: 1.25, Y: 0}}
	triangle = outline{{X: 0, Y: -1.2}, {X: -1.1, Y: 0.8}, {X: 1.1, Y: 0.8}}
	markers  = []outline{circle, square, pyramid, diamond, triangle}
)

// oval is a polygon that looks like a circle.
var oval = func() (o outline) {
	const corners = 40
	for i := range corners {
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / corners)
		o = append(o, point{X: vg.Length(cos), Y: vg.Length(sin)})
	}
	return o
}()

// trace adds the shape to a path, with the given radii along x and y.
func (o outline) trace(path *vg.Path, at, radii point) {
	if len(o) == 0 && radii.X == radii.Y {
		path.Move(at.Add(point{X: radii.X}))
		path.Arc(at, radii.X, 0, 2*math.Pi)
	} else if len(o) == 0 {
		o = oval
	}
	for i, corner := range o {
		if corner = at.Add(point{X: corner.X * radii.X, Y: corner.Y * radii.Y}); i == 0 {
			path.Move(corner)
		} else {
			path.Line(corner)
		}
	}
	path.Close()
}

func lookOf(i, of int) look {
	return look{colour: colours[i%len(colours)], dashes: dashes[i%len(dashes)], marker: markers[i%len(markers)],
		hollow: i/len(markers)%2 == 1, width: 1.3, index: i, of: of}
}

// faint is a translucent colour of the look for areas.
func (l look) faint(share float64) color.NRGBA {
	c := l.colour
	c.A = uint8(255 * share)
	return c
}
