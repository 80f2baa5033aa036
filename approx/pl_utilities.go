package approx

import "github.com/gpc-tune/gpc-tune/approx/likelihood"

// plUtilities is the rule of PL for several classes without an order. Given the largest utility g
// of a case, the likelihood is a product over the classes (see likelihood.RandomUtility), and each
// factor is linearised on the marginal of its x_c = g - f_c. For the class of the label, g = f_c +
// e_c is linear: its site has the mean and the variance of e_c. For every other class, the event
// that its utility is at most g is a label of two classes, with the probability P(x_c).
//
// For two classes and multinomial probit this is PL with probit and the covariance K_0 + K_1 + I,
// in which e_c is part of the latent value.
type plUtilities struct {
	plRule
	noise gaussian // moments of e_c
}

func newPLUtilities(p *siteState, lik likelihood.RandomUtility) plUtilities {
	mean, variance := lik.NoiseMoments()
	return plUtilities{plRule{p}, gaussian{mean, variance}}
}

func (p plUtilities) match(i int, v, _ float64) (site, error) {
	return p.at(i, gaussian{p.mu[i], v}), nil
}

func (p plUtilities) at(i int, at gaussian) site {
	if p.y[i] == 0 {
		return p.plRule.at(i, at)
	}
	tau := 1 / p.noise.variance
	return site{tau: tau, offset: tau * (p.noise.mean - at.mean), average: averages{proper: true}}
}

func (p plUtilities) slopes(i int) siteSlopes {
	if p.y[i] == 0 {
		return p.plRule.slopes(i)
	}
	return siteSlopes{offsetByMean: -1 / p.noise.variance}
}
