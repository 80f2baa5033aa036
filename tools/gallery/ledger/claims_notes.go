package ledger

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/gpc-tune/gpc-tune/record"
)

// notes are the claims of the rows of the notes on EP and ADF, which is the method online here.
var notes = []Claim{
	{Row: "ADF | order dependence | different evidence per order", From: "notes_adf", Check: notesOrder},
	{Row: "EP | revisiting removes the order | -", From: "notes_order", Check: notesRevisit},
	{Row: "KL | moment matching minimises KL(p||q) | -", From: "notes_moments", Check: notesKL},
	{Row: "ADF | first step exact for one datum | -", From: "notes_moments", Check: notesFirst},
}

// notesOrder compares the range of ADF's log evidence over ten orders of the cases with EP's log
// evidence.
func notesOrder(r Runs) (f Found, err error) {
	var values []float64
	ep := math.NaN()
	all, err := r.All("notes_adf", Of{})
	for _, c := range all {
		if c.Record.Inference.Name() == "ep" {
			ep = float64(c.LogEvidence)
		} else {
			values = append(values, float64(c.LogEvidence))
		}
	}
	if err != nil || len(values) == 0 {
		return f, errors.Join(err, errors.New("no orders"))
	}
	f.Here = fmt.Sprintf("%.2f to %.2f in %d orders, EP %.2f", slices.Min(values), slices.Max(values), len(values), ep)
	f.Agrees = slices.Max(values)-slices.Min(values) > 0.01
	return f, nil
}

// approximated is the Gaussian of an inference method in an illustration.
func approximated(i record.Illustration, inference string) (*record.Gaussian, error) {
	for _, a := range i.Approximations {
		if a.Inference.Name() == inference && a.Gaussian != nil && a.Gaussian.LogEvidence != nil {
			return a.Gaussian, nil
		}
	}
	return nil, fmt.Errorf("no Gaussian of %s", inference)
}

// notesRevisit checks that EP has the same log evidence for both orders of two cases, and ADF two
// different ones.
func notesRevisit(r Runs) (f Found, err error) {
	apart := map[string]float64{}
	for _, inference := range []string{"online", "ep"} {
		var values []float64
		for at := range 2 {
			i, err := illustration(r, "notes_order", at)
			if err != nil {
				return f, err
			}
			g, err := approximated(i, inference)
			if err != nil {
				return f, err
			}
			values = append(values, float64(*g.LogEvidence))
		}
		apart[inference] = math.Abs(values[1] - values[0])
	}
	f.Here = fmt.Sprintf("two orders of two cases: log evidences of ADF apart by %.3f, of EP by less than 1e-9",
		apart["online"])
	if f.Agrees = apart["online"] > 1e-3 && apart["ep"] < 1e-9; !f.Agrees {
		f.Here = fmt.Sprintf("log evidences of ADF apart by %.3g, of EP by %.3g", apart["online"], apart["ep"])
	}
	f.Cause, f.Why = unexplained, "EP does not forget the order"
	return f, nil
}

// momentsOf is the Gaussian of an inference for the one case of notes_moments, and the exact
// moments.
func momentsOf(r Runs, inference string) (its, exact *record.Gaussian, err error) {
	i, err := illustration(r, "notes_moments", 0)
	if err != nil {
		return nil, nil, err
	}
	its, err = approximated(i, inference)
	return its, i.Exact, err
}

// notesFirst checks that for one case ADF has the exact mean, variance and log evidence.
func notesFirst(r Runs) (f Found, err error) {
	its, exact, err := momentsOf(r, "online")
	if err != nil {
		return f, err
	}
	far := max(math.Abs(float64(its.Mean[0]-exact.Mean[0])),
		math.Abs(float64(its.Covariance[0][0]-exact.Covariance[0][0])),
		math.Abs(float64(*its.LogEvidence-*exact.LogEvidence)))
	f.Here = fmt.Sprintf("mean %.6f, variance %.6f, log evidence %.6f: exact within 1e-10", float64(its.Mean[0]),
		float64(its.Covariance[0][0]), float64(*its.LogEvidence))
	if f.Agrees = far < 1e-10; !f.Agrees {
		f.Here = fmt.Sprintf("%.1e from the exact moments", far)
	}
	f.Cause, f.Why = unexplained, "the first step is not exact"
	return f, nil
}

// notesKL integrates KL(p||q) over the lattice of notes_moments for several Gaussians q. One has
// the moments of p, others a mean or a standard deviation that is a little off, and one is
// Laplace's.
func notesKL(r Runs) (f Found, err error) {
	i, err := illustration(r, "notes_moments", 0)
	if err != nil {
		return f, err
	}
	ep, exact, err := momentsOf(r, "ep")
	if err != nil {
		return f, err
	}
	laplace, _, err := momentsOf(r, "laplace")
	if err != nil {
		return f, err
	}
	x, p := i.Column("f"), i.Column("exact")
	divergence := func(mean, sd float64) (sum float64) { // trapezoidal rule: both ends are 0
		for k, v := range p {
			if v > 0 {
				z := (x[k] - mean) / sd
				sum += v * (math.Log(v) + z*z/2 + math.Log(sd*math.Sqrt(2*math.Pi))) * (x[1] - x[0])
			}
		}
		return sum
	}
	of := func(g *record.Gaussian) (mean, sd float64) {
		return float64(g.Mean[0]), math.Sqrt(float64(g.Covariance[0][0]))
	}
	mean, sd := of(ep)
	least := divergence(mean, sd)
	f.Agrees = math.Abs(mean-float64(exact.Mean[0])) < 1e-10
	for _, step := range []float64{-0.01, 0.01} {
		f.Agrees = f.Agrees && divergence(mean+step*sd, sd) > least && divergence(mean, sd*(1+step)) > least
	}
	f.Here = fmt.Sprintf("KL(p||q) is %.5f for EP, more a hundredth to each side, and %.5f for Laplace's method", least,
		divergence(of(laplace)))
	f.Cause, f.Why = unexplained, "another Gaussian is nearer"
	return f, nil
}
