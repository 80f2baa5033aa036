package picture

import (
	"fmt"

	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/figure"
	"github.com/gpc-tune/gpc-tune/reports/picture/shown"
)

// Drivers is the kind of the pictures of what drives the predictions of an answer.
const Drivers = "drivers"

// driverPictures show the importances of the inputs for the held-out predictions of each answer.
func driverPictures(r shown.Report) (out []figure.Figure) {
	for _, a := range r.Decided() {
		if a.Drivers == nil || len(a.Drivers.Inputs) == 0 {
			continue
		}
		inputs := a.Drivers.Inputs
		f := Importances(inputs[:min(len(inputs), mostRivals)], reports.UnitOfDrivers(a))
		f.Name, f.Title = Drivers, shown.Titled("What drives the predictions", r.SeveralData(a))
		if f.Of = []int{a.Configuration}; r.SeveralData(a) != "" {
			f.Name += "-" + a.Dataset
		}
		if left := len(inputs) - mostRivals; left > 0 {
			f.Notes = append(f.Notes, fmt.Sprintf("the %d least important inputs are not shown", left))
		}
		out = append(out, f)
	}
	return out
}

// Importances is the figure of importances of inputs with their intervals and levels of noise, in
// a unit of information.
func Importances(all []record.Importance, unit reports.InformationUnit) figure.Figure {
	bars, noise := figure.Intervals{Name: "importance, 95 % interval", Horizontal: true},
		figure.Points{Name: "level of noise", Hollow: true}
	var names []string
	for k, of := range all {
		names = append(names, of.Input)
		y := float64(k)
		in := func(bits record.Number) float64 { return unit.PerBit * float64(bits) }
		bars.X, bars.Y = append(bars.X, in(of.Bits)), append(bars.Y, y)
		bars.Lo, bars.Hi = append(bars.Lo, in(of.Lo)), append(bars.Hi, in(of.Hi))
		noise.X, noise.Y = append(noise.X, in(of.Noise)), append(noise.Y, y)
	}
	zero := figure.Line{X: []float64{0, 0}, Y: []float64{-0.5, float64(len(names)) - 0.5}, Dashed: true}
	return figure.Figure{Name: "importance-of-inputs", Title: "Importance of the inputs", Columns: 1,
		Panels: []figure.Panel{{
			X: figure.Axis{Label: "loss of information with shuffled values (" + unit.Name + " per case)"},
			Y: figure.Axis{Names: names}, Layers: []figure.Layer{zero, bars, noise}}}}
}
