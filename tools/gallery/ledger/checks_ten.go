package ledger

import (
	"fmt"
	"math"
	"slices"

	"github.com/gpc-tune/gpc-tune/reports"
)

// The claims of GPML Figure 3.11 read the evidence, the errors and the information over the
// lattice.
const tenClasses = "usps_10_full"

// bestOf is the best point of the lattice of ten classes by the log evidence or a score.
func bestOf(r Runs, by string) (at reports.GridPoint, err error) {
	c, err := r.One(tenClasses, Of{})
	if err != nil {
		return at, err
	}
	i := slices.IndexFunc(c.Best, func(b reports.Best) bool { return b.By == by })
	if i < 0 {
		return at, fmt.Errorf("gallery:%s has no best %s", tenClasses, by)
	}
	return c.Grid[c.Best[i].Point], nil
}

// mostEvidence is the place of the largest evidence, to the digits that the book prints.
func mostEvidence(r Runs) (Found, error) {
	p, err := bestOf(r, "log_evidence")
	l, amplitude := math.Log(valueOf(p.Point, "length_scale")), math.Log(valueOf(p.Point, "amplitude"))
	return Found{Here: fmt.Sprintf("%.2f, %.2f", l, amplitude),
		Agrees: within(l, 2.35, 0.005) && within(amplitude, 2.6, 0.05)}, err
}

// fewestErrors compares the length scale with the fewest errors and the length scale with the
// largest evidence.
func fewestErrors(r Runs) (Found, error) {
	errors, err := bestOf(r, "errors")
	if err != nil {
		return Found{}, err
	}
	evidence, err := bestOf(r, "log_evidence")
	at, than := valueOf(errors.Point, "length_scale"), valueOf(evidence.Point, "length_scale")
	return Found{Here: fmt.Sprintf("log l %.2f with %.0f errors, and %.2f at the largest evidence", math.Log(at),
		valueOf(errors.Scores, "errors"), math.Log(than)), Agrees: at < than}, err
}
