package approx

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx/prior"
)

// Corrector posteriors can correct their log evidence.
type Corrector interface {
	// Corrected returns an error where there is no correction.
	Corrected() (Corrected, error)
}

// Corrected is the log evidence of EP, in nats, with the leading term of the perturbation series of
// Opper, Paquet & Winther 2013, section 3.3. The tilted distributions have skewness s_i and excess
// kurtosis k_i, where the posterior N(μ, Σ) has none, and with the correlations ρ of Σ
//
//	log p(y) ≈ L + Σ_i<j s_i s_j ρ_ij³/3! + Σ_i<j k_i k_j ρ_ij⁴/4! + …
//
// A weighted case counts as its copies. No site may be floored: its tilted distribution then has
// another variance than the posterior. The correction is small where EP is accurate.
//
// With several classes a case has a site for each of them, see Contrasts. Let t(f) be the product
// of the sites of case i, each scaled by the exp(h) of its term, and N(f; m, C) the posterior of
// its latent values without t. The exact average of the likelihood replaces the average of t:
//
//	log R_i = log ∫ p(y_i|f) N(f; m, C) df - log ∫ t(f) N(f; m, C) df
//
// is added for every case, and the sums are over pairs of sites of different cases.
//
// There is no derivative. The time is O(C² n³), and for several classes the memory O(C n²), see
// CorrectionMemory.
type Corrected struct {
	LogEvidence float64 // EP's log evidence plus the first sum
	// the second sum, which is not added; its size estimates the error of LogEvidence
	Next float64
}

// errCorrection is returned for a fit without a correction.
var errCorrection = errors.New("only the log evidence of ep, with alpha: 1 and exact averages, has a correction")

// CorrectionMemory returns the bytes that Corrected allocates temporarily for C classes: 2C + 2
// matrices of n × n.
func CorrectionMemory(s Size) int64 {
	if s.Classes <= 2 {
		return 0
	}
	return 8 * int64(2*s.Classes+2) * int64(s.Cases) * int64(s.Cases)
}

// shapes are the skewness and the excess kurtosis of the tilted distribution that belongs to each
// site, or to one copy of it.
func (p *siteState) shapes() (skewness, kurtosis []float64, err error) {
	if rule, ok := p.rule.(epRule); !ok || !rule.correctable() {
		return nil, nil, errCorrection
	}
	if !p.diagnostics.Converged {
		return nil, nil, p.evidence.err
	}
	if p.diagnostics.Floors > 0 {
		return nil, nil, fmt.Errorf("site precisions were raised to 0 (%d), so that the series does not begin at EP's "+
			"moments; use {ep: {negative_sites: keep}}", p.diagnostics.Floors)
	}
	for i, v := range p.sigma {
		c := p.cavity(i, p.weight.copyShare(i))
		d, scale := averaged(p.ofCopy(i), p.y[i], c).d, c.variance/math.Sqrt(v)
		skewness = append(skewness, d[2]*scale*scale*scale)
		kurtosis = append(kurtosis, d[3]*scale*scale*scale*scale)
	}
	return skewness, kurtosis, nil
}

// add adds the terms of a pair of sites, given the products of their skewness and kurtosis.
func (c *Corrected) add(skewness, kurtosis, correlation float64) {
	cube := correlation * correlation * correlation
	c.LogEvidence += skewness * cube / 6
	c.Next += kurtosis * cube * correlation / 24
}

// Corrected implements Corrector for one latent process.
func (p *siteState) Corrected() (c Corrected, err error) {
	skewness, kurtosis, err := p.shapes()
	if err != nil {
		return c, err
	}
	c.LogEvidence = p.evidence.value
	n := len(p.tau)
	respond := p.jacobian(p.sigma)
	x, correlation := make([]float64, 2*n), make([]float64, 2*n)
	copies, _ := p.prior.(interface{ Apart(i int) float64 })
	for i, s := range skewness {
		x[i] = 1
		respond(correlation, x)
		x[i] = 0
		own := 1 / p.weight.copyShare(i) // copies
		for j := range i {
			pairs := own / p.weight.copyShare(j)
			c.add(pairs*s*skewness[j], pairs*kurtosis[i]*kurtosis[j], correlation[j])
		}
		of := 1. // the correlation of copies
		if copies != nil {
			of -= copies.Apart(i) / p.sigma[i]
		}
		c.add(own*(own-1)/2*s*s, own*(own-1)/2*kurtosis[i]*kurtosis[i], of)
	}
	return c, nil
}

// Corrected implements Corrector.
func (p *joint) Corrected() (c Corrected, err error) {
	skewness, kurtosis, err := p.shapes()
	if err != nil {
		return c, err
	}
	paired, ok := p.sites.Classes.(prior.JointMarginals)
	if !ok {
		return c, errors.New("several classes with inducing inputs have no correction of the log evidence")
	}
	c.LogEvidence = p.evidence.value + floats.Sum(p.caseCorrections())
	n := len(p.index)
	for j, v := range p.sigma {
		sd := math.Sqrt(v)
		skewness[j] /= sd * sd * sd
		kurtosis[j] /= v * v
	}
	paired.Covariances(func(a, b int, s blas64.General) {
		whole := 1. // every pair once
		if a == b {
			whole = 0.5
		}
		for i := range n {
			u, v := whole*skewness[a*n+i], whole*kurtosis[a*n+i]
			for j, x := range s.Data[i*s.Stride : i*s.Stride+n] {
				c.add(u*skewness[b*n+j], v*kurtosis[b*n+j], x)
			}
		}
	})
	return c, nil
}

// caseCorrections are the log R_i of Corrected. W maps a vector common to all classes to 0, and E g
// is the same for all classes. So, with b = K⁻¹(f̂ - m),
//
//	log ∫ t(f) N(f; m, C) df = Σ_c h_c + ½ log 2π/s - ½ bᵀ C b - ½ log|I + C W|
func (p *joint) caseCorrections() []float64 {
	n := len(p.index)
	sites, logs := p.blockSites(), make([]float64, n)
	sites.cavities(p.sites.Classes, n, func(i int, mean []float64, cavity *mat.SymDense) {
		proba := make([]float64, p.classes)
		p.deviation.Add(p.classPrediction.lik.Average(proba, mean, cavity, p.points))
		total := p.sites.Total()[i]
		log := math.Log(max(proba[p.index[i]], leastProbability)) - math.Log(2*math.Pi/total)/2
		w, spread := mat.NewDense(p.classes, p.classes, nil), mat.NewDense(p.classes, p.classes, nil)
		for a := range p.classes {
			log -= p.terms[a*n+i].value
			for c := range p.classes {
				log += sites.b[a*n+i] * cavity.At(a, c) * sites.b[c*n+i] / 2
				w.Set(a, c, -p.tau[a*n+i]*p.tau[c*n+i]/total)
			}
			w.Set(a, a, w.At(a, a)+p.tau[a*n+i])
		}
		spread.Mul(cavity, w)
		for c := range p.classes {
			spread.Set(c, c, spread.At(c, c)+1)
		}
		half, _ := mat.LogDet(spread)
		logs[i] = log + half/2
	})
	return logs
}
