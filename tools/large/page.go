package main

import (
	"bytes"
	"cmp"
	_ "embed"
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
	fmt.Fprintln(&b, "| correction | inducing inputs | unexplained | log evidence | "+
		"test information (bits) | errors | processor seconds | memory of a job |")
	fmt.Fprintln(&b, "| --- | --: | --: | --: | --: | --: | --: | --: |")
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
		evidence := float64(r.result.LogEvidence)
		fmt.Fprintf(&b, "| %s | %s | %s | %.2f | %.4f | %.0f of %d | %.1f | %s |\n",
			cmp.Or(r.name, "exact"), points, share, evidence, bits.Value,
			errors.Value, r.result.Scores.N, r.seconds, humanize.IBytes(uint64(r.memory)))
	}
	fmt.Fprintf(&b, tail, tolerance, most)
	fmt.Fprintf(&b, origin, today(), machine.CPU(), runtime.GOMAXPROCS(0))
	b.WriteString(measured + "\n" + road)
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

// measured holds the measurements of `go run ./tools/bench -only large`.
//
//go:embed beside.md
var measured string

const head = `# Many cases

From about 4 000 cases on, use inducing inputs: one option of the inference method asks for m of them.

` + "```yaml" + `
model: {kernel: se, likelihood: probit, inference: {laplace: {inducing: 500}}}
` + "```" + `

The exact covariance of n cases takes O(n³) time and O(n²) memory: with 10 000 cases every matrix is 0.8 GB, and
Laplace's method or EP with a gradient holds four. With m inducing inputs it is O(n m²) time and O(n m) memory.
` + "`gpc-tune plan`" + ` says from how many cases on they take far less
time than the exact covariance. [Inducing inputs](models.md#inducing-inputs-for-many-cases) has the other
methods and options. For a rough process of one to three inputs,
[neighbours](models.md#neighbours-for-rough-processes) [lose less](#a-rough-process).

` + "`structure: auto`, as in `{laplace: {structure: auto}}`" + `, chooses: the exact covariance for up to 4000 cases,
and for more 200 or 500 inducing inputs, 10 neighbours, or both. A pilot tunes each on two thirds of 4000 cases and
predicts the others; it takes some seconds, and may see cases that a fold holds out.
The plan and the report say what was chosen, and why.

## What they cost in accuracy

The table compares them with the exact covariance on %d cases (%s, %d inputs, standardised). The
model is Laplace's method with logit and one length scale, tuned by one climb of the log evidence. The log evidence
is of all cases. The scores are of a fifth of them, held out; the seconds are of both.

![log evidence and test information by the number of inducing inputs](%s)

`

const tail = `
FITC changes the prior: its log evidence belongs to another model, and may be above the exact one. VFE subtracts
what the inducing inputs leave.

*Unexplained* is the share of the prior variance of the cases that the inducing inputs leave. With few of them the
evidence prefers kernels that are smooth enough.

*Found* was doubled until that changed the log evidence by no more
than %v nats a case, or until it was the largest allowed, %d. ` + "`inducing: auto`" + ` does this with up to 2000.
The seconds include the search.

`

const origin = `Run on %s with ` + "`go run ./tools/large`" + `, whose comment says more; %s, %d threads.

`

const road = `## A rough process

On a rough process (Matérn of order 1/2, two inputs, 20 000 cases) five neighbours are [better than a thousand inducing
inputs](evidence.md#covariances-of-a-rough-process), in half of the time. Features are worse than the same number of
inducing inputs. For a smooth process, or with many inputs, take inducing inputs.

With ten classes, some hundred inducing inputs [lose much](evidence.md#inducing-inputs-for-ten-classes): 200 leave 10 %
of the variance unexplained, and 500 leave 4 %.

## What is not here

Mini-batches (Hensman, Fusi & Lawrence 2013), graphics cards, and [32-bit
numbers](evidence.md#a-covariance-matrix-of-32-bit-numbers), whose errors were measured.
`
