package illustration

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/figure"
	"github.com/gpc-tune/gpc-tune/reports/picture/shown"
	"github.com/gpc-tune/gpc-tune/reports/table"
)

// Posteriors show the posterior of one latent value with the prior, the likelihood and the
// Gaussians of the inference methods, as in GPML Figure 3.4. For two latent values they show level
// lines of the posterior, and over them the steps of each method.
func Posteriors(r shown.Report) []figure.Figure {
	return illustrated(r, "posterior", func(all []record.Illustration) figure.Figure {
		f := figure.Figure{Title: "Posterior and its approximations", Columns: 2}
		common, titles := distinguished(all)
		f.Notes = common
		if i := all[0]; len(i.Labels) == 2 {
			prior := table.Moments(i.Prior)
			f.Notes = append(f.Notes, fmt.Sprintf(
				"labels %s, %s; prior means %s, standard deviations %s, correlation %s", signed(i.Labels[0]),
				signed(i.Labels[1]), prior[0], prior[1], prior[2]))
		}
		short := reports.IllustratedNames(all)
		f.Looks = map[string]int{"likelihood": 0, exact: 4, iterates: 1, approximation: 2} // exact: solid, black
		for k, i := range all {
			f.Looks[priorName(i)] = 1
			for j, a := range i.Approximations {
				f.Looks[short[a.Inference.Text]] = []int{2, 3, 5, 6}[j%4]
				if !a.Failure.IsZero() {
					f.Notes = append(f.Notes, short[a.Inference.Text]+" fails: "+a.Failure.Text)
				}
			}
			if len(i.Labels) == 1 {
				f.Panels = append(f.Panels, densities(i, titles[k], short)...)
			} else {
				f.Panels = append(f.Panels, ways(i, titles[k], short)...)
			}
		}
		if n := len(f.Panels); len(all[0].Labels) == 2 && (n == 3 || n > 4) {
			f.Columns = 3
		}
		f.Columns = min(f.Columns, len(f.Panels))
		return f
	})
}

// Names in the legend.
const (
	exact         = "exact posterior density"
	iterates      = "means of the iterates"
	approximation = "approximation, 3 standard deviations"
)

func priorName(i record.Illustration) string {
	return fmt.Sprintf("prior N(%.4g, %.4g)", float64(i.Prior.Mean[0]), float64(i.Prior.Covariance[0][0]))
}

// densities are two panels, the second without the likelihood, which is no density.
func densities(i record.Illustration, title string, short map[string]string) []figure.Panel {
	x := record.Floats(i.Columns[0].Values)
	p := figure.Panel{Title: title, X: figure.Axis{Label: "latent f", Lo: x[0], Hi: x[len(x)-1]},
		Y: figure.Axis{Label: fmt.Sprintf("likelihood p(y = %s|f), and densities", signed(i.Labels[0]))}}
	enlarged := p
	enlarged.Y.Label = "density"
	lines := []figure.Layer{
		figure.Line{Name: priorName(i), X: x, Y: i.Column("prior")},
		figure.Line{Name: exact, X: x, Y: i.Column("exact")},
	}
	for _, a := range i.Approximations {
		if a.Gaussian == nil {
			continue
		}
		m, v := float64(a.Gaussian.Mean[0]), float64(a.Gaussian.Covariance[0][0])
		line := figure.Line{Name: short[a.Inference.Text], X: x}
		for _, f := range x {
			line.Y = append(line.Y, math.Exp(-(f-m)*(f-m)/(2*v))/math.Sqrt(2*math.Pi*v))
		}
		lines = append(lines, line)
	}
	p.Layers = append([]figure.Layer{figure.Line{Name: "likelihood", X: x, Y: i.Column("likelihood")}}, lines...)
	enlarged.Layers = lines
	return []figure.Panel{p, enlarged}
}

// ways returns a panel for every inference method: level lines of the exact density, the path of
// the means of its iterates, and ellipses of three standard deviations. The ellipse of the final
// Gaussian is dark, the ellipses of the iterates are faint.
func ways(i record.Illustration, title string, short map[string]string) (panels []figure.Panel) {
	n := reports.Edge(i)
	x, y, density := i.Column("f1"), i.Column("f2"), i.Column("exact")
	contours := figure.Contours{Name: exact, X: x[:n]}
	top := 0.0
	for row := range n {
		contours.Y = append(contours.Y, y[row*n])
		contours.Z = append(contours.Z, density[row*n:(row+1)*n])
		for _, v := range density[row*n : (row+1)*n] {
			top = max(top, v)
		}
	}
	for _, l := range shown.BinEdges(0, top, 8) {
		if l > 0 && l < top {
			contours.Levels = append(contours.Levels, l)
		}
	}
	left, right, low, high := where(i, contours, top)
	for _, a := range i.Approximations {
		p := figure.Panel{
			Title:  strings.TrimSpace(title + " " + short[a.Inference.Text]),
			X:      figure.Axis{Label: "f1", Lo: left, Hi: right},
			Y:      figure.Axis{Label: "f2", Lo: low, Hi: high},
			Square: true, Layers: []figure.Layer{contours},
		}
		if !a.Failure.IsZero() {
			p.Title += " (fails)"
		}
		way := figure.Line{Name: iterates, Markers: true, X: []float64{float64(i.Prior.Mean[0])},
			Y: []float64{float64(i.Prior.Mean[1])}}
		for _, g := range a.Iterates {
			p.Layers = append(p.Layers, ellipse("", g))
			way.X, way.Y = append(way.X, float64(g.Mean[0])), append(way.Y, float64(g.Mean[1]))
		}
		if len(a.Iterates) > 0 {
			p.Layers = append(p.Layers, way)
		}
		if a.Gaussian != nil {
			p.Layers = append(p.Layers, ellipse(approximation, *a.Gaussian))
		}
		panels = append(panels, p)
	}
	return panels
}

// where returns bounds that are common to all methods. They cover the density above a hundredth of
// its maximum, the means and all ellipses, but only places where the density is known.
func where(i record.Illustration, density figure.Contours, top float64) (left, right, low, high float64) {
	x, y := []float64{float64(i.Prior.Mean[0])}, []float64{float64(i.Prior.Mean[1])}
	for row, values := range density.Z {
		for column, v := range values {
			if v > top/100 {
				x, y = append(x, density.X[column]), append(y, density.Y[row])
			}
		}
	}
	for _, a := range i.Approximations {
		all := a.Iterates
		if a.Gaussian != nil {
			all = append(slices.Clone(all), *a.Gaussian)
		}
		for _, g := range all {
			l := ellipse("", g)
			x, y = append(x, l.X...), append(y, l.Y...)
		}
	}
	bounds := func(values, known []float64) (lo, hi float64) {
		lo, hi = slices.Min(values), slices.Max(values)
		margin := 0.05 * (hi - lo)
		return max(known[0], lo-margin), min(known[len(known)-1], hi+margin)
	}
	left, right = bounds(x, density.X)
	low, high = bounds(y, density.Y)
	return left, right, low, high
}

// ellipse is the line on which a density is e^-4.5 of its largest value: at three standard
// deviations. Without a name it is faint.
func ellipse(name string, g record.Gaussian) figure.Line {
	l := figure.Line{Name: name, Faint: name == ""}
	c := g.Covariance
	s := math.Sqrt(float64(c[0][0]))
	r := float64(c[0][1]) / s
	rest := math.Sqrt(max(0, float64(c[1][1])-r*r))
	for k := range 73 {
		sin, cos := math.Sincos(float64(k) * math.Pi / 36)
		l.X = append(l.X, float64(g.Mean[0])+3*s*cos)
		l.Y = append(l.Y, float64(g.Mean[1])+3*(r*cos+rest*sin))
	}
	return l
}
