package approx

// AtMode reports whether a method puts its Gaussian at the mode of the posterior, not at its mean.
func AtMode(m Approximation) bool {
	if each, is := m.(OneVsRest); is {
		m = each.Binary
	}
	_, is := m.(Laplace)
	return is
}
