package search

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/record"
)

// quadratic is a model of the objective around the best point so far, in the hyperparameters that
// matter there and are not discrete:
//
//	f(z) - f(0) = gᵀz + zᵀHz/2 + ε(z),   ε(z) ~ N(0, σ²ρ²|z|⁶)
//
// with the distance z of a neighbourhood. The entries of H have independent priors N(0, σ²), and
// those of g N(0, σ² widest/r): the closer one looks, the more the slope counts. The noise ε grows
// as the remainder of a Taylor series does, so that far points count little. σ has the largest
// marginal likelihood, and so has ρ of a few values.
type quadratic struct {
	neighbourhood
	terms   [][2]int // pairs (i, j) of z_i z_j; those of the linear terms are (i, -1)
	weights []float64
	root    *mat.TriDense // R of the QR decomposition of the weighted terms: covariance σ²(RᵀR)⁻¹
	sd      float64       // σ
	rest    float64       // ρ
}

// neighbourhood is what is around the best point so far: the points that differ from it in
// hyperparameters that matter there and are not discrete, and in no other. Their distance z from it
// is in units of r s_i along axis i, with a radius r, and scales s_i ≤ 1 with which the objective
// bends about as much along all axes. Steps have no z_i beyond ±1. After one that is better, r is
// twice its length if that is more than r, and after one that is not, r shrinks (trust regions;
// Conn, Scheinberg & Vicente 2009).
type neighbourhood struct {
	Space
	free   []int     // numbers of the hyperparameters
	at     []float64 // the best point
	radius float64
	scale  []float64
}

const (
	widest   = 0.2   // radius
	shrink   = 0.7   // of the radius
	narrow   = 0.05  // the least scale
	scalings = 2     // how often a fit gives the scales for another
	crossed  = 20    // beyond so many hyperparameters H is diagonal
	rounding = 1e-9  // of values, in units of σ
	exact    = 1e-12 // of the largest difference of values: smaller residuals count as this
)

// quadratic fits the model to the points of the neighbourhood, the nearest of them if there are
// very many. It is nil if there are fewer of them than terms, or with few true, none at all. All
// scales are 1 if there are fewer.
func (s Space) quadratic(done []record.Trial, few bool) *quadratic {
	met, best := s.met(done)
	if best < 0 {
		return nil
	}
	q := &quadratic{neighbourhood: neighbourhood{Space: s, at: met[best], radius: s.radius(met, done)}}
	for j, matters := range param.InForce(s, s.place(q.at)) {
		if matters && !s[j].Map.Discrete() {
			q.free, q.scale = append(q.free, j), append(q.scale, 1)
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
	size := len(q.terms)
	for scaled := 0; ; scaled++ {
		var points []point
		for _, i := range q.nearest(met, done, 3*size+1) {
			if z := q.from(met[i]); i != best {
				points = append(points, point{z, floats.Norm(z, 2), done[i].Value() - done[best].Value()})
			}
		}
		if k == 0 || len(points) == 0 || len(points) < size && !few {
			return nil
		}
		q.root = nil
		likeliest := math.Inf(-1)
		for _, rest := range []float64{3, 1, 0.3, 0.1, 0.03, 0.01, 1e-3, 1e-4} {
			likeliest = q.fit(points, rest, likeliest)
		}
		switch {
		case q.root == nil:
			return nil
		case scaled == scalings || len(points) < size:
			return q
		}
		q.rescale()
	}
}

// point is one that a quadratic is fitted to.
type point struct {
	z          []float64
	far, value float64 // |z|, and the value above the best one's
}

// rescale sets the scales to |H_ii|^(-1/2), with the uncertainty of H_ii added, relative to the
// largest of them. Of a constant, they stay.
func (q *quadratic) rescale() {
	scale := slices.Clone(q.scale)
	for m, f := range q.terms {
		if i, j := f[0], f[1]; i == j {
			row := mat.NewVecDense(len(q.terms), nil)
			row.SetVec(m, 1)
			if row.SolveVec(q.root.T(), row) != nil {
				return
			}
			scale[i] /= math.Sqrt(math.Hypot(q.weights[m], q.sd*mat.Norm(row, 2)))
		}
	}
	if most := floats.Max(scale); !math.IsInf(most, 1) {
		for i, s := range scale {
			q.scale[i] = max(s/most, narrow)
		}
	}
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
					r *= shrink
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

// nearest are the trials of the neighbourhood that have not failed, at most so many, the nearest
// first.
func (b *neighbourhood) nearest(met [][]float64, done []record.Trial, most int) (trials []int) {
	far := make([]float64, len(done))
	for i, t := range done {
		if met[i] != nil && !math.IsInf(t.Value(), -1) && b.shares(met[i]) {
			trials, far[i] = append(trials, i), floats.Norm(b.from(met[i]), 2)
		}
	}
	slices.SortStableFunc(trials, func(i, j int) int { return cmp.Compare(far[i], far[j]) })
	return trials[:min(len(trials), most)]
}

// shares reports whether u has the other hyperparameters of the best point.
func (b *neighbourhood) shares(u []float64) bool {
	for j := range u {
		if u[j] != b.at[j] && !slices.Contains(b.free, j) {
			return false
		}
	}
	return true
}

// from is the distance z of u from the best point.
func (b *neighbourhood) from(u []float64) []float64 {
	z := make([]float64, len(b.free))
	for i, j := range b.free {
		z[i] = (u[j] - b.at[j]) / (b.radius * b.scale[i])
	}
	return z
}

// to is the point of the cube nearest to the one at this distance.
func (b *neighbourhood) to(z []float64) []float64 {
	u := slices.Clone(b.at)
	for i, j := range b.free {
		u[j] = min(max(u[j]+z[i]*b.radius*b.scale[i], 0), 1)
	}
	return u
}

// apart is the least distance of another point.
func (b *neighbourhood) apart() float64 { return min(apart, b.radius/1000) }

// around is the region of steps, with most coordinates near the best point. A regression has points
// up to twice as far in its unit cube.
func (b *neighbourhood) around() region {
	return region{len(b.free),
		func(c []float64) []float64 {
			z := make([]float64, len(c))
			for i := range z {
				w := 2*c[i] - 1
				z[i] = w * (0.3 + 0.7*w*w)
			}
			return b.to(z)
		},
		func(u []float64) []float64 {
			x := b.from(u)
			for i, z := range x {
				x[i] = 0.5 + z/4
			}
			return x
		}, false, b.apart()}
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
		if expected := q.gain(q.from(at)); expected > gain && isNew(at, met, q.apart()) {
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
			unit := q.radius * q.scale[i]
			down, up := max(-half, -q.at[j]/unit)-z[i], min(half, (1-q.at[j])/unit)-z[i]
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
