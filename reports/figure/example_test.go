package figure_test

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/gpc-tune/gpc-tune/reports/figure"
)

// A figure is plain data, drawn as SVG or PNG.
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
