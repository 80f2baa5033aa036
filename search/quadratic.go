package search

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/experiments/record"
	"github.com/gpc-tune/gpc-tune/objective/param"
)

// quadratic is a model of the objective around the best point so far, in the hyperparameters that
// matter there and are not discrete:
//
//	f(z) - f(0) = gᵀz + zᵀHz/2 + ε(z),   ε(z) ~ N(0, σ²ρ²|z|⁶)
//
// with z the distance from the best point in the unit cube, in units of a radius r. The entries of
// H have independent priors N(0, σ²), and those of g N(0, σ² widest/r): the closer one looks, the
// more the slope counts. The noise ε grows as the remainder of a Taylor series does, so that far
// points count little. σ has the largest marginal likelihood, and so has ρ of a few values. Steps
// are no longer than r along any axis. After one that is better, r is twice its length if that is
// more than r, and after one that is not, it is halved (trust regions; Conn, Scheinberg & Vicente
// 2009).
type quadratic struct {
	Space
	free    []int     // numbers of the hyperparameters
	at      []float64 // the best point
	radius  float64
	terms   [][2]int // pairs (i, j) of z_i z_j; those of the linear terms are (i, -1)
	weights []float64
	root    *mat.TriDense // R of the QR decomposition of the weighted terms: covariance σ²(RᵀR)⁻¹
	sd      float64       // σ
	rest    float64       // ρ
}

const (
	widest   = 0.2   // radius
	crossed  = 20    // beyond so many hyperparameters H is diagonal
	rounding = 1e-9  // of values, in units of σ
	exact    = 1e-12 // of the largest difference of values: smaller residuals count as this
)

// quadratic fits the model to the points that share with the best all other hyperparameters, the
// nearest of them if there are very many. It is nil if there are fewer of them than terms, or with
// few true, none at all.
func (s Space) quadratic(done []record.Trial, few bool) *quadratic {
	met, best := s.met(done)
	if best < 0 {
		return nil
	}
	q := &quadratic{Space: s, at: met[best], radius: s.radius(met, done)}
	for j, matters := range param.InForce(s, s.place(q.at)) {
		if matters && !s[j].Map.Discrete() {
			q.free = append(q.free, j)
		}
	}
	k := len(q.free)
	for i := range k {
		q.terms = append(q.terms, [2]int{i, -1})
	}
	for i := range k {
		for j := i; j < k && (j == i || k <= crossed); j++ {
			q.terms = append(q.terms, [2]int{i, j})
		}
	}
	var points []point
	for i, t := range done {
		if met[i] != nil && i != best && !math.IsInf(t.Value(), -1) && q.shares(met[i]) {
			z := q.from(met[i])
			points = append(points, point{z, floats.Norm(z, 2), t.Value() - done[best].Value()})
		}
	}
	size := len(q.terms)
	if k == 0 || len(points) == 0 || len(points) < size && !few {
		return nil
	}
	slices.SortStableFunc(points, func(a, b point) int { return cmp.Compare(a.far, b.far) })
	points = points[:min(len(points), 3*size)]
	likeliest := math.Inf(-1)
	for _, rest := range []float64{3, 1, 0.3, 0.1, 0.03, 0.01, 1e-3, 1e-4} {
		likeliest = q.fit(points, rest, likeliest)
	}
	if q.root == nil {
		return nil
	}
	return q
}

// point is one that a quadratic is fitted to.
type point struct {
	z          []float64
	far, value float64 // |z|, and the value above the best one's
}

// radius is that of steps from the best point. It begins anew where a better point is far away.
func (s Space) radius(met [][]float64, done []record.Trial) float64 {
	r, best := widest, -1
	for i, t := range done {
		switch {
		case met[i] == nil:
		case best < 0:
			if !math.IsInf(t.Value(), -1) {
				best = i
			}
		default:
			far := floats.Distance(met[i], met[best], math.Inf(1))
			if t.Value() <= done[best].Value() {
				if far <= 1.01*r { // a step of length r, but for rounding
					r /= 2
				}
				continue
			}
			if best = i; far > 2*r {
				r = widest
			} else {
				r = min(widest, max(r, 2*far))
			}
		}
	}
	return r
}

// shares reports whether u has the other hyperparameters of the best point.
func (q *quadratic) shares(u []float64) bool {
	for j := range u {
		if u[j] != q.at[j] && !slices.Contains(q.free, j) {
			return false
		}
	}
	return true
}

// from is the distance of u from the best point in units of the radius.
func (q *quadratic) from(u []float64) []float64 {
	z := make([]float64, len(q.free))
	for i, j := range q.free {
		z[i] = (u[j] - q.at[j]) / q.radius
	}
	return z
}

// to is the point of the cube nearest to the one at this distance.
func (q *quadratic) to(z []float64) []float64 {
	u := slices.Clone(q.at)
	for i, j := range q.free {
		u[j] = min(max(u[j]+z[i]*q.radius, 0), 1)
	}
	return u
}

// expand sets row to the terms at z.
func (q *quadratic) expand(row, z []float64) {
	for m, f := range q.terms {
		switch i, j := f[0], f[1]; j {
		case -1:
			row[m] = z[i] * math.Sqrt(widest/q.radius)
		case i:
			row[m] = z[i] * z[i] / 2
		default:
			row[m] = z[i] * z[j]
		}
	}
}

// fit fits the model with this ρ, and keeps it if its log marginal likelihood is larger than the
// largest so far. It returns the larger of both.
func (q *quadratic) fit(points []point, rest, likeliest float64) float64 {
	n, size, scale := len(points), len(q.terms), 0.0
	a, b := mat.NewDense(n+size, size, nil), mat.NewVecDense(n+size, nil)
	likelihood := 0.0
	for i, p := range points {
		weight := 1 / (rest*p.far*p.far*p.far + rounding)
		likelihood += math.Log(weight)
		q.expand(a.RawRowView(i), p.z)
		floats.Scale(weight, a.RawRowView(i))
		b.SetVec(i, weight*p.value)
		scale = max(scale, math.Abs(p.value))
	}
	for m := range size {
		a.Set(n+m, m, 1) // the prior
	}
	var qr mat.QR
	qr.Factorize(a)
	var weights, left mat.VecDense
	if qr.SolveVecTo(&weights, false, b) != nil {
		return likeliest
	}
	left.MulVec(a, &weights)
	left.SubVec(b, &left)
	sum := max(mat.Norm(&left, 2), exact*scale)
	var r mat.Dense
	qr.RTo(&r)
	for m := range size {
		likelihood -= math.Log(math.Abs(r.At(m, m)))
	}
	if likelihood -= float64(n) * math.Log(sum); !(likelihood > likeliest) {
		return likeliest
	}
	q.weights, q.rest, q.sd = weights.RawVector().Data, rest, sum/math.Sqrt(float64(n))
	q.root = mat.NewTriDense(size, mat.Upper, nil)
	for m := range size {
		for l := m; l < size; l++ {
			q.root.SetTri(m, l, r.At(m, l))
		}
	}
	return likelihood
}

// gain is the expected improvement at a distance z.
func (q *quadratic) gain(z []float64) float64 {
	row := mat.NewVecDense(len(q.terms), nil)
	q.expand(row.RawVector().Data, z)
	mean := floats.Dot(row.RawVector().Data, q.weights)
	if row.SolveVec(q.root.T(), row) != nil {
		return 0
	}
	far := floats.Norm(z, 2)
	return math.Exp(logExpectedImprovement(mean, q.sd*math.Hypot(mat.Norm(row, 2), q.rest*far*far*far)))
}

// improve returns the point with the largest expected improvement, apart from the points met, and
// this improvement. Candidates are the tops of the quadratic within the radius and within parts of
// it, and points in the direction in which the gradient is least known. u is nil if there is none.
func (q *quadratic) improve(met [][]float64) (u []float64, gain float64) {
	var candidates [][]float64
	for _, part := range []float64{1, 0.5, 0.25, 0.1} {
		candidates = append(candidates, q.top(part))
	}
	if unknown := q.leastKnown(); unknown != nil {
		for _, part := range []float64{1, -1, 0.5, -0.5} {
			candidates = append(candidates, floats.ScaleTo(make([]float64, len(unknown)), part, unknown))
		}
	}
	for _, z := range candidates {
		at := q.to(z)
		if expected := q.gain(q.from(at)); expected > gain && isNew(at, met, min(apart, q.radius/1000)) {
			u, gain = at, expected
		}
	}
	return u, gain
}

// top is where the quadratic is largest in a box of this half width and in the cube, found by going
// along one axis after another.
func (q *quadratic) top(half float64) []float64 {
	k := len(q.free)
	slope, h := slices.Clone(q.weights[:k]), mat.NewSymDense(k, nil)
	floats.Scale(math.Sqrt(widest/q.radius), slope)
	for m, f := range q.terms[k:] {
		h.SetSym(f[0], f[1], q.weights[k+m])
	}
	z := make([]float64, k)
	for range 2000 {
		longest := 0.0
		for i, j := range q.free {
			down := max(-half, -q.at[j]/q.radius) - z[i]
			up := min(half, (1-q.at[j])/q.radius) - z[i]
			bend := h.At(i, i)
			rise := func(step float64) float64 { return step * (slope[i] + bend*step/2) }
			step := down
			if rise(up) > rise(down) {
				step = up
			}
			if bend < 0 {
				step = min(max(-slope[i]/bend, down), up)
			}
			if !(rise(step) > 0) {
				continue
			}
			for l := range slope {
				slope[l] += h.At(i, l) * step
			}
			z[i] += step
			longest = max(longest, math.Abs(step))
		}
		if longest < 1e-9*half {
			break
		}
	}
	return z
}

// leastKnown is the direction, of length 1, in which the gradient has the largest variance; nil if
// that cannot be computed.
func (q *quadratic) leastKnown() []float64 {
	size, k := len(q.terms), len(q.free)
	var inverse, covariance mat.Dense
	if inverse.Inverse(q.root) != nil {
		return nil
	}
	covariance.Mul(&inverse, inverse.T())
	of := mat.NewSymDense(size, nil)
	for i := range k {
		for j := i; j < k; j++ {
			of.SetSym(i, j, covariance.At(i, j))
		}
	}
	var e mat.EigenSym
	if !e.Factorize(of.SliceSym(0, k), true) {
		return nil
	}
	var v mat.Dense
	e.VectorsTo(&v)
	return mat.Col(nil, k-1, &v)
}
