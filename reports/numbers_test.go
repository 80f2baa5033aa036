package reports_test

import (
	"math"
	"testing"

	"github.com/gpc-tune/gpc-tune/reports"
)

// Published figures keep the digits of their source, including zeros at the end; figures of this
// run have one more digit.
func TestPublishedDigits(t *testing.T) {
	nan := reports.Number(math.NaN())
	for _, c := range []struct {
		f                           reports.PublishedFigure
		published, here, difference string
	}{
		{reports.PublishedFigure{Published: 0.84, Uncertainty: 0.005, Here: 0.8369412}, "0.84", "0.837", "-0.003"},
		{reports.PublishedFigure{Published: 0.8, Uncertainty: 0.005, Here: 0.81}, "0.80", "0.810", "0.010"},
		{reports.PublishedFigure{Published: -1234.5, Uncertainty: 0.05, Here: -1234.5678}, "-1234.5", "-1234.57", "-0.07"},
		{reports.PublishedFigure{Published: 23, Uncertainty: 0.5, Here: 24}, "23", "24", "1"},
		{reports.PublishedFigure{Published: 100, Uncertainty: 50, Here: 98.25}, "100", "98.2", "-1.8"},
		{reports.PublishedFigure{Published: 23, Uncertainty: 0.5, Here: 33.01}, "23", "33.0", "10.0"}, // no count
		{reports.PublishedFigure{Published: 2.5, Uncertainty: 0.05, Here: 3}, "2.5", "3.00", "0.50"},
		{reports.PublishedFigure{Published: 21.5, Uncertainty: 1, Here: nan}, "21.5", "", ""},
	} {
		published, here, difference := c.f.Texts()
		if published != c.published || here != c.here || difference != c.difference {
			t.Errorf("%+v: %q, %q, %q", c.f, published, here, difference)
		}
	}
}
