package figure

import (
	"image/color"
	"math"
	"testing"

	"gonum.org/v1/plot/vg"
)

// A fill and a stroke of the same points are one element, in which the one that comes first stays below the other.
func TestPathsOfTheCanvas(t *testing.T) {
	triangle, other := vg.Path{}, vg.Path{}
	triangle.Move(vg.Point{X: 1, Y: 2})
	triangle.Line(vg.Point{X: 3, Y: 4})
	triangle.Close()
	other.Move(vg.Point{X: 1, Y: 2})
	other.Arc(vg.Point{X: 0, Y: 2}, 1, 0, math.Pi/2)
	away, back := vg.Path{}, vg.Path{}
	away.Move(vg.Point{X: 5, Y: 6})
	away.Arc(vg.Point{X: 1, Y: 1}, 2, 0, 3*math.Pi/2) // its start is elsewhere
	back.Move(vg.Point{X: 3, Y: 2})
	back.Arc(vg.Point{X: 1, Y: 1}, 2, 0, -math.Pi/2)
	back.Arc(vg.Point{X: 1, Y: 1}, 2, math.Pi/2, -math.Pi)
	circle := vg.Path{}
	circle.Move(vg.Point{X: 7.6, Y: 2})
	circle.Arc(vg.Point{X: 5, Y: 2}, 2.6, 0, 2*math.Pi)
	circle.Close()
	white, black := color.Gray{Y: 255}, color.Black
	fill := func(p vg.Path, of color.Color) func(*svgCanvas) {
		return func(c *svgCanvas) { c.SetColor(of); c.Fill(p) }
	}
	stroke := func(p vg.Path) func(*svgCanvas) {
		return func(c *svgCanvas) { c.SetColor(black); c.SetLineWidth(2); c.Stroke(p) }
	}
	for _, test := range []struct {
		draw []func(*svgCanvas)
		want string
	}{
		{[]func(*svgCanvas){fill(triangle, white), stroke(triangle)},
			`<path d="M1,2l2,2Z" style="fill:#FFFFFF;stroke:#000000;stroke-width:2"/>` + "\n"},
		{[]func(*svgCanvas){stroke(triangle), fill(triangle, white)},
			`<path d="M1,2l2,2Z" style="fill:#FFFFFF;stroke:#000000;stroke-width:2;paint-order:stroke"/>` + "\n"},
		{[]func(*svgCanvas){stroke(triangle), fill(triangle, black)}, // the default is to fill in black
			`<path d="M1,2l2,2Z" style="stroke:#000000;stroke-width:2;paint-order:stroke"/>` + "\n"},
		{[]func(*svgCanvas){fill(triangle, color.NRGBA{G: 0x72, B: 0xb2, A: 0x33})},
			`<path d="M1,2l2,2Z" style="fill:#0072B2;fill-opacity:0.2" />` + "\n"},
		{[]func(*svgCanvas){fill(away, black)}, `<path d="M5,6l-2,-5A2,2 0 1 1 1,-1"  />` + "\n"},
		{[]func(*svgCanvas){fill(back, black)}, `<path d="M3,2l0,-1A2,2 0 0 0 1,-1l0,4A2,2 0 1 0 1,-1"  />` + "\n"},
		{[]func(*svgCanvas){fill(circle, white)},
			`<path d="M7.6,2a2.6,2.6 0 1 1-5.2,0 2.6,2.6 0 1 1 5.2,0Z" style="fill:#FFFFFF" />` + "\n"},
		{[]func(*svgCanvas){fill(triangle, white), stroke(other)}, `<path d="M1,2l2,2Z" style="fill:#FFFFFF" />` + "\n" +
			`<path d="M1,2A1,1 0 0 1 0,3" style="fill:none;stroke:#000000;stroke-width:2" />` + "\n"},
		{[]func(*svgCanvas){fill(triangle, white), (*svgCanvas).Push, stroke(triangle)},
			`<path d="M1,2l2,2Z" style="fill:#FFFFFF;stroke:#000000;stroke-width:2"/>` + "\n"},
		{[]func(*svgCanvas){fill(triangle, white), func(c *svgCanvas) { c.Scale(2, 2) }, stroke(triangle)},
			`<path d="M1,2l2,2Z" style="fill:#FFFFFF" />` + "\n" + `<g transform="scale(2,2)">` + "\n" +
				`<path d="M1,2l2,2Z" style="fill:none;stroke:#000000;stroke-width:2" />` + "\n"},
	} {
		c := &svgCanvas{stack: []state{{}}}
		for _, draw := range test.draw {
			draw(c)
		}
		c.flush()
		if got := c.elements.String(); got != test.want {
			t.Errorf("%s\nwant\n%s", got, test.want)
		}
	}
}
