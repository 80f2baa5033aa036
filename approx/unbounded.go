package approx

import (
	"fmt"
	"math"

	"github.com/gpc-tune/gpc-tune/approx/likelihood"
)

// explain adds the cause to a fit that has not converged, as far as it was measured; sharpest is
// the largest τ_i K_ii. If p(y|f) jumps and the rank of K is smaller than the number of cases,
// latent values are combinations of a few, and contradicting labels determine these ever more
// precisely with each update, because no case has an independent component. The precisions of sites
// grow until double precision cannot represent them together with those of the prior.
func (s *sites) explain(method string, f fixedPoint, sharpest float64) {
	if _, smooth := s.lik.(likelihood.Differentiable); smooth || s.negative.f.Rows > 0 {
		return
	}
	n, rank := len(s.y), s.rank()
	if rank == n {
		return
	}
	why := fmt.Sprintf("p(y|f) jumps and the covariance of the %d cases has rank %d, so contradictory labels "+
		"make the precision of latent values grow without bound", n, rank)
	way := fmt.Sprintf("a noise kernel in a sum with the others, of amplitude %.2g or more, gives every case "+
		"a latent value of its own; likelihood: probit or logit does not jump", math.Sqrt(leastNoise*s.largest()))
	at := fmt.Sprintf("%s stopped at iteration %d", method, s.diagnostics.Iterations)
	if finite(f.distance) {
		at += fmt.Sprintf(", %.3g posterior standard deviations from its fixed point", f.distance)
	}
	if sharpest > unbounded {
		s.stopped(fmt.Sprintf("%s: a site had %.0g times the precision of the prior, for %s; %s",
			at, sharpest, why, way))
		return
	}
	s.stopped(fmt.Sprintf("%s; raise max_iterations. If that does not help: %s; %s", at, why, way))
}

const (
	// unbounded is a precision of a site, relative to the prior, that a single case does not reach
	// alone.
	unbounded = 1e8
	// leastNoise is the variance of a noise kernel, relative to the largest prior variance, that
	// was observed to bound the sites.
	leastNoise = 1e-6
)

// rank is the numerical rank of K, by Cholesky's method with the largest pivot first.
func (s *sites) rank() int {
	n, scale := len(s.y), s.largest()
	pivots := make([]float64, n)
	for i := range pivots {
		pivots[i] = s.variance(i)
	}
	var rows [][]float64 // of the factor
	for len(rows) < n {
		at := 0
		for i, v := range pivots {
			if v > pivots[at] {
				at = i
			}
		}
		if !(pivots[at] > 8*float64(n)*eps*scale) {
			break
		}
		row, root := make([]float64, n), math.Sqrt(pivots[at])
		for j := range row {
			v := s.k.Data[min(at, j)*s.k.Stride+max(at, j)]
			for _, r := range rows {
				v -= r[at] * r[j]
			}
			row[j] = v / root
			pivots[j] -= row[j] * row[j]
		}
		pivots[at] = 0
		rows = append(rows, row)
	}
	return len(rows)
}
