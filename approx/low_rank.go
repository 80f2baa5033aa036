package approx

import (
	"fmt"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/gpc-tune/gpc-tune/approx/lowrank"
)

// lowRank is the prior of one latent process with inducing inputs.
type lowRank struct{ *lowrank.Sites }

// newLowRank makes it for the correction with this power.
func newLowRank(work *Work, cov Cov, power float64) (lowRank, error) {
	p, err := newLowRankPrior(work, cov, power)
	if err != nil {
		return lowRank{}, err
	}
	return lowRank{lowrank.NewSites(p)}, nil
}

func newLowRankPrior(work *Work, cov Cov, power float64) (*lowrank.Prior, error) {
	if _, n := cov.Cross.Dims(); cov.Mean != nil && len(cov.Mean) != n {
		panic(fmt.Sprintf("approx: Cross has %d columns and the mean %d entries", n, len(cov.Mean)))
	}
	for i, v := range cov.Mean {
		if !finite(v) {
			return nil, fmt.Errorf("prior mean of case %d is %v: the mean's hyperparameters are out of range", i, v)
		}
	}
	room := func(rows, columns int) blas64.General { return work.general(rows, columns) }
	p, err := lowrank.New(cov.lowRank(), power, room)
	return p, notDefinite(err)
}

// describe records properties of a prior.
func describe(d *Diagnostics, p *lowrank.Prior) {
	d.Jitter, d.Unexplained = max(d.Jitter, p.Jitter()), max(d.Unexplained, p.Unexplained())
}

// notDefinite converts an error of package lowrank; nil stays nil.
func notDefinite(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", ErrNotPositiveDefinite, err)
}

func (p lowRank) variance(i int) float64        { return p.Variance(i) }
func (p lowRank) largest() float64              { return p.Largest() }
func (p lowRank) multiply(dst, x []float64)     { p.Multiply(dst, x) }
func (p lowRank) factorise(tau []float64) error { return notDefinite(p.Factorise(tau)) }
func (p lowRank) shrink(dst, x, kx []float64)   { p.Shrink(dst, x) }
func (p lowRank) logDet() float64               { return p.LogDet() }
func (p lowRank) pull(dst *Cov, g lowrank.Adjoint) {
	to := dst.lowRank()
	p.Pull(&to, g)
}

// lacking is c D.
func (p lowRank) lacking(c float64) []float64 {
	d := make([]float64, p.Cases())
	for i := range d {
		d[i] = c * p.Lacking(i)
	}
	return d
}

// scaled is c x.
func scaled(x []float64, c float64) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = c * v
	}
	return y
}
