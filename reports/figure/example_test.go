package figure_test

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/gpc-tune/gpc-tune/reports/figure"
)

// This example draws a figure, which is plain data, as SVG.
func Example() {
	f := figure.Figure{Name: "line", Title: "A line", Panels: []figure.Panel{{Layers: []figure.Layer{
		figure.Line{X: []float64{0, 1, 2}, Y: []float64{1, 3, 2}},
	}}}}
	var b bytes.Buffer
	err := figure.SVG(&b, f)
	fmt.Println(strings.Contains(b.String(), "<svg"), err)
	// Output:
	// true <nil>
}
