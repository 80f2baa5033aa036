package figure

import (
	"fmt"
	"strconv"
	"strings"

	"gonum.org/v1/plot/vg"
)

// Print is how a figure is printed in a paper. What is 0 or false is as on a screen.
type Print struct {
	Width float64 // of the figure, points
	// size of the labels of axes and of the legend, points; what is smaller has 8/9 of it
	Font     float64
	Untitled bool // without title and notes, which are in the caption then
}

// Sizes of text, points.
const (
	leastText = 6
	// that of Print, so that no text has less than leastText
	LeastFont = 6.75
)

// scale is what lengths are multiplied with.
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

// Length reads a length with its unit, "84mm", as points: pt, mm, cm or in. A point is 1/72 inch.
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
