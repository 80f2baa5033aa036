package main

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/gpc-tune/gpc-tune/internal/machine"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/figure"
)

// write writes the page and its figure.
func write(name, cases string, rows []row) error {
	figures := strings.TrimSuffix(name, filepath.Ext(name)) + ".svg"
	var svg bytes.Buffer
	if err := figure.SVG(&svg, drawn(rows)); err != nil {
		return err
	}
	if err := os.WriteFile(figures, svg.Bytes(), 0o666); err != nil {
		return err
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, head, rows[0].result.Cases, cases, rows[0].result.Inputs, filepath.Base(figures))
	fmt.Fprintln(&b, "| correction | inducing inputs | unexplained | log evidence | from the exact one | "+
		"test information (bits) | errors | log loss | processor seconds | memory of a job |")
	fmt.Fprintln(&b, "| --- | --: | --: | --: | --: | --: | --: | --: | --: | --: |")
	exact := rows[len(rows)-1].result
	for _, r := range rows {
		points, share := "", ""
		if i := r.result.Inducing; i != nil {
			points, share = strconv.Itoa(i.Points), reports.Brief(100*float64(i.Unexplained))+" %"
		}
		if r.name != "" && r.points == 0 {
			points += " (found)"
		}
		bits, _ := r.result.Scores.Value("information_bits")
		errors, _ := r.result.Scores.Value("errors")
		loss, _ := r.result.Scores.Value("log_loss")
		evidence := float64(r.result.LogEvidence)
		fmt.Fprintf(&b, "| %s | %s | %s | %.2f | %+.2f | %.4f | %.0f of %d | %.4f | %.1f | %s |\n",
			cmp.Or(r.name, "exact"), points, share, evidence, evidence-float64(exact.LogEvidence), bits.Value,
			errors.Value, r.result.Scores.N, loss.Value, r.seconds, humanize.IBytes(uint64(r.memory)))
	}
	fmt.Fprintf(&b, tail, tolerance, most, today(), machine.CPU(), runtime.GOMAXPROCS(0))
	for _, r := range rows {
		if r.name == "" || r.points > 0 || r.result.Inducing == nil {
			continue
		}
		for _, of := range r.result.Inducing.Tried {
			fmt.Fprintf(&b, "| %s | %d | %.2f |\n", r.name, of.Points, float64(of.LogEvidence))
		}
	}
	b.WriteString(road)
	return os.WriteFile(name, b.Bytes(), 0o666)
}

// drawn is the figure: evidence and information by processor time.
func drawn(rows []row) figure.Figure {
	f := figure.Figure{Name: "large-n", Title: "Inducing inputs beside the exact covariance", Columns: 2}
	panels := []figure.Panel{
		{X: figure.Axis{Label: "inducing inputs"}, Y: figure.Axis{Label: "log evidence (nats)"}},
		{X: figure.Axis{Label: "inducing inputs"}, Y: figure.Axis{Label: "test information (bits per case)"}},
	}
	exact := rows[len(rows)-1].result
	last := 0.0
	for _, name := range []string{"fitc", "vfe"} {
		lines := [2]figure.Line{{Name: name, Markers: true}, {Name: name, Markers: true}}
		for _, r := range rows {
			if r.name != name || r.points == 0 || r.result.Inducing == nil {
				continue
			}
			bits, _ := r.result.Scores.Value("information_bits")
			x := float64(r.result.Inducing.Points)
			last = max(last, x)
			for k, y := range []float64{float64(r.result.LogEvidence), bits.Value} {
				lines[k].X, lines[k].Y = append(lines[k].X, x), append(lines[k].Y, y)
			}
		}
		for k, l := range lines {
			panels[k].Layers = append(panels[k].Layers, l)
		}
	}
	bits, _ := exact.Scores.Value("information_bits")
	for k, y := range []float64{float64(exact.LogEvidence), bits.Value} {
		panels[k].Layers = append(panels[k].Layers, figure.Line{Name: "exact", X: []float64{0, last},
			Y: []float64{y, y}, Dashed: true})
	}
	f.Panels = panels
	return f
}

const head = `# Many cases

[Inducing inputs](inference.md#inducing-inputs-for-many-cases) take O(n m²) time and O(n m) memory where the exact
covariance takes O(n³) and O(n²). Here is what they cost in evidence and in predictions, beside the exact one, on %d
cases (%s, %d inputs, standardised): Laplace's method, logit, one length scale, one climb of the log evidence from
the start values. The log evidence is of all cases; the scores are of a fifth of them, held out and predicted by the
model that was tuned on the others. The seconds are of both.

![log evidence and test information by the number of inducing inputs](%s)

`

const tail = `
FITC changes the prior: its log evidence is that of another model, which may be above the exact one. VFE subtracts what
the inducing inputs leave. *Found* is a number that was doubled until that changed the log evidence by no more than %v
nats a case, or that is the most that there may be, %d, as inducing: auto does with at most 2000. What that took is in
its seconds. *Unexplained* is the share of the prior variance of the cases that the inducing inputs leave: with few of
them the evidence prefers kernels that are smooth enough for these.

Run on %s with ` + "`go run ./experiments/large`" + `, whose comment says more; %s, %d threads.

What was tried for the numbers found, and where climbs of at most 20 evaluations ended:

| correction | inducing inputs | log evidence |
| --- | --: | --: |
`

const road = `
## Further

What follows is not here. Mini-batches: the variational bound is a sum over cases, so that some of them at a time give
an unbiased estimate of its gradient (Hensman, Fusi & Lawrence 2013); it would be a criterion of its own beside
log_evidence, with the Gaussian of the inducing variables as parameters, and an optimiser for noisy gradients beside the
local ones. Graphics cards: nearly all time is in products of m×n and m×m matrices, which all go through
internal/linalg; a card would be another implementation of that package, and single precision a question for the checks
in approx/approxtest.
`
