package figure

import (
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"
)

// The data area of a panel is as wide as there is room, and four fifths as high, up to a limit; one with names along Y
// has room for their lines, and a square one the same scale along both axes.
func TestSizeOfTheDataArea(t *testing.T) {
	wide := strings.Repeat("name ", 20)
	rows := func(name string, n int) Panel { return Panel{Y: Axis{Names: slices.Repeat([]string{name}, n)}} }
	square := func(x, y float64) Panel { return Panel{Square: true, X: Axis{Hi: x}, Y: Axis{Hi: y}} }
	line := small.line()
	for _, c := range []struct {
		panel         Panel
		room          vg.Length
		width, height vg.Length
	}{
		{Panel{}, 208, 200, 0.8 * 208}, {Panel{}, 408, 400, 225}, {rows("a", 3), 208, 200, 3 * (line + 6)},
		{rows("a", 30), 208, 200, 30 * (line + 6)}, {rows(wide, 2), 208, 200, 2 * (3*line + 6)},
		{square(10, 5), 208, 200, 100}, {square(5, 10), 208, 150, 300}, {square(1, 1), 408, 300, 300},
	} {
		f := newFrame(c.panel, c.room)
		if f.fit(c.room, 300); f.width != c.width || f.height != c.height {
			t.Errorf("%+v in %v: %v by %v, want %v by %v", c.panel, c.room, f.width, f.height, c.width, c.height)
		}
	}
}

// Around the data area there is room for the titles, the labels of the axes and of their ticks, one line or more.
func TestRoomAroundTheDataArea(t *testing.T) {
	lines := func(n int, l textStyle) vg.Length { return vg.Length(n) * l.line() }
	axis := Axis{Hi: 1, Names: []string{"a", "bb"}}
	long := strings.Repeat("word ", 100)
	for _, c := range []struct {
		panel              Panel
		above, below, left vg.Length // without the height of the data area
	}{
		{Panel{X: axis, Y: axis}, 7, lines(1, small) + tick + 3, small.width("bb") + tick + 7},
		{Panel{Title: "a", X: axis, Y: axis}, 7 + lines(1, heading), lines(1, small) + tick + 3, small.width("bb") + tick + 7},
		{Panel{Title: long, X: Axis{Label: long, Names: []string{"a", "two words"}}, Y: Axis{Label: long, Names: axis.Names}},
			7 + lines(2, heading), lines(1, small) + tick + 3 + lines(2, plain), small.width("bb") + tick + 7 + lines(2, plain)},
		{Panel{X: Axis{Label: "x", Names: slices.Repeat([]string{strings.Repeat("m", 9)}, 6)}, Y: axis}, 7,
			small.width(strings.Repeat("m", 9)) + tick + 3 + lines(1, plain), small.width("bb") + tick + 7}, // vertical
	} {
		f := newFrame(c.panel, 200)
		f.fit(208, 300)
		if f.above() != c.above || f.below() != c.below+f.height || f.left() != c.left {
			t.Errorf("%.200v: above %v, below %v, left %v; want %v, %v, %v", c.panel, f.above(), f.below()-f.height, f.left(),
				c.above, c.below, c.left)
		}
	}
}

// Names along x are horizontal if they fit, or else vertical, all of them or a regular part. There
// are no more numbers than fit.
func TestTicksAlongX(t *testing.T) {
	for _, c := range []struct {
		names  []string
		turned bool
		at     string
	}{
		{[]string{"a"}, false, "0"}, {[]string{"a", "b", "c"}, false, "0 1 2"}, {slices.Repeat([]string{"two words"}, 5), false, "0 1 2 3 4"},
		{slices.Repeat([]string{"wordwordword"}, 5), true, "0 1 2 3 4"}, {slices.Repeat([]string{"mmmmmm"}, 20), true, ""},
		{slices.Repeat([]string{"mmmmmm"}, 21), true, "0 2 4 6 8 10 12 14 16 18 20"},
	} {
		f := newFrame(Panel{X: Axis{Names: c.names}}, 208)
		f.fit(208, 300)
		var at []string
		for _, v := range f.xAt {
			at = append(at, Number(v, 0))
		}
		if got := strings.Join(at, " "); f.turned != c.turned || c.at != "" && got != c.at || len(f.xTicks) != len(at) ||
			c.at == "" && len(at) != len(c.names) {
			t.Errorf("%d of %s: turned %v, at %s", len(c.names), c.names[0], f.turned, got)
		}
	}
	for room, want := range map[vg.Length]string{308: "0.0 0.1 0.2 0.3 0.4 0.5 0.6 0.7 0.8", 80: "0.0 0.5", 10: "0.0 0.5"} {
		f := newFrame(Panel{X: Axis{Hi: 0.8}}, room)
		f.fit(room, 300)
		var labels []string
		for _, lines := range f.xTicks {
			labels = append(labels, strings.Join(lines, "|"))
		}
		if got := strings.Join(labels, " "); got != want || len(f.xAt) != len(labels) {
			t.Errorf("in %v: %s, want %s", room, got, want)
		}
	}
}
