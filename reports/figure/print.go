package figure

import (
	"fmt"
	"strconv"
	"strings"

	"gonum.org/v1/plot/vg"
)

// Print configures a figure for a paper. Zero values mean as on a screen.
type Print struct {
	Width float64 // width of the figure, points
	// size of the labels of axes and of the legend, points; smaller texts have 8/9 of it
	Font     float64
	Untitled bool // without title and notes, which then are in the caption
	Lines    int  // number of curves in a panel; read by package picture
}

// Sizes of text, points.
const (
	leastText = 6
	// minimum of Font, so that no text is smaller than leastText
	LeastFont = 6.75
)

// scale is the factor of all lengths.
func (p Print) scale() vg.Length {
	if p.Font == 0 {
		return 1
	}
	return vg.Length(p.Font) / plain.size
}

// units of lengths, in points.
var units = []struct {
	name   string
	points float64
}{{"pt", 1}, {"mm", 72 / 25.4}, {"cm", 72 / 2.54}, {"in", 72}}

// Length reads a length with its unit, "84mm", and returns points: pt, mm, cm or in. A point is
// 1/72 inch.
func Length(text string) (float64, error) {
	for _, u := range units {
		if number, is := strings.CutSuffix(text, u.name); is {
			v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
			if points := v * u.points; err == nil && points > 0 && points < 1e4 {
				return points, nil
			}
		}
	}
	return 0, fmt.Errorf("%q is no length; write a number with pt, mm, cm or in: 84mm", text)
}
