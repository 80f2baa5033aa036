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
// with the coordinates z of a neighbourhood. The entries of H have independent priors N(0, σ²), and
// the entries of g N(0, σ² widest/r): in a small neighbourhood the slope matters more. The noise ε
// grows like the remainder of a Taylor series, so that distant points have little weight. σ
// maximises the marginal likelihood; ρ does so among a few values.
type quadratic struct {
	neighbourhood
	terms   [][2]int // (i, j) for the term z_i z_j; (i, -1) for the linear term z_i
	weights []float64
	root    *mat.TriDense // R of the QR decomposition of the weighted terms: covariance σ²(RᵀR)⁻¹
	sd      float64       // σ
	rest    float64       // ρ

	likelihood float64 // the log marginal likelihood, up to a constant
}

// neighbourhood is a set of points around the best one so far. They differ from it only in
// hyperparameters that matter there and are not discrete. A point with the coordinates z is r Bz
// away from the best one, with a radius r and a basis B. The columns of B have lengths up to 1,
// chosen so that the objective has about the same curvature along all of them. Steps have no z_i
// beyond ±1. After a step that finds a better point, r is at least twice the length of the step.
// After any other step r shrinks (trust regions; Conn, Scheinberg & Vicente 2009).
type neighbourhood struct {
	Space
	free    []int     // indices of the hyperparameters
	at      []float64 // the best point
	radius  float64
	basis   *mat.Dense // B
	inverse *mat.Dense // B⁻¹
	turned  bool       // B is not diagonal
}

const (
	widest    = 0.2   // the largest radius
	shrink    = 0.7   // the factor by which the radius shrinks
	narrow    = 0.05  // the least length of a column of a diagonal basis
	scalings  = 2     // number of fits whose curvatures set new lengths
	rotations = 3     // number of fits whose curvatures set new directions
	crossed   = 20    // the largest number of hyperparameters with an H that is not diagonal
	rounding  = 1e-9  // the rounding error of a value, in units of σ
	exact     = 1e-12 // the least residual, relative to the largest difference of values
)

// quadratic fits the model to the points of the neighbourhood, or to the nearest of them if there
// are very many. It is nil if there are fewer points than terms; if few is true, only if there are
// none. With fewer points than terms the basis is the identity. Otherwise the basis is first scaled
// and then rotated, and the fit with the largest marginal likelihood is kept.
func (s Space) quadratic(done []record.Trial, few bool) *quadratic {
	met, best := s.met(done)
	if best < 0 {
		return nil
	}
	q := &quadratic{neighbourhood: neighbourhood{Space: s, at: met[best], radius: s.radius(met, done)}}
	for j, matters := range param.InForce(s, s.place(q.at)) {
		if matters && !s[j].Map.Discrete() {
			q.free = append(q.free, j)
		}
	}
	k := len(q.free)
	if k == 0 {
		return nil
	}
	q.span(mat.DenseCopyOf(mat.NewDiagDense(k, slices.Repeat([]float64{1}, k))), narrow)
	for i := range k {
		q.terms = append(q.terms, [2]int{i, -1})
	}
	for i := range k {
		for j := i; j < k && (j == i || k <= crossed); j++ {
			q.terms = append(q.terms, [2]int{i, j})
		}
	}
	last := scalings
	if 1 < k && k <= crossed {
		last += rotations
	}
	var likeliest *quadratic
	for fit := 0; ; fit++ {
		points := q.points(met, done, best)
		if len(points) == 0 || len(points) < len(q.terms) && !few {
			return nil
		}
		q.root, q.likelihood = nil, math.Inf(-1)
		for _, rest := range []float64{3, 1, 0.3, 0.1, 0.03, 0.01, 1e-3, 1e-4} {
			q.fit(points, rest)
		}
		switch {
		case q.root == nil && fit > scalings:
			return likeliest
		case q.root == nil:
			return nil
		case fit <= scalings || q.likelihood > likeliest.likelihood:
			kept := *q
			likeliest = &kept
		}
		switch {
		case fit == last || len(points) < len(q.terms):
			return likeliest
		case fit < scalings:
			q.rescale()
		default:
			q.turn()
		}
	}
}

// point is a point to which a quadratic is fitted.
type point struct {
	z          []float64
	far, value float64 // |z|, and the value above the best one's
}

// points are the nearest points of the neighbourhood, without the best one.
func (q *quadratic) points(met [][]float64, done []record.Trial, best int) (points []point) {
	for _, i := range q.nearest(met, done, 3*len(q.terms)+1) {
		if z := q.from(met[i]); i != best {
			points = append(points, point{z, floats.Norm(z, 2), done[i].Value() - done[best].Value()})
		}
	}
	return points
}

// rescale divides column i of the basis by √|H_ii|, with the uncertainty of H_ii added. If all
// values are equal, the basis stays.
func (q *quadratic) rescale() {
	basis := mat.DenseCopyOf(q.basis)
	for i := range q.free {
		direction := mat.NewVecDense(len(q.free), nil)
		direction.SetVec(i, 1)
		lengthen(basis, i, 1/math.Sqrt(q.bend(direction)))
	}
	q.span(basis, narrow)
}

// turn sets the columns of the basis to the eigenvectors of H. Each is divided by the square root
// of its eigenvalue, with the uncertainty added.
func (q *quadratic) turn() {
	var e mat.EigenSym
	if !e.Factorize(q.hessian(), true) {
		return
	}
	var directions, basis mat.Dense
	e.VectorsTo(&directions)
	basis.Mul(q.basis, &directions)
	for i := range q.free {
		lengthen(&basis, i, 1/math.Sqrt(q.bend(directions.ColView(i))))
	}
	q.turned = q.span(&basis, 0) || q.turned
}

// lengthen multiplies a column.
func lengthen(a *mat.Dense, column int, factor float64) {
	rows, _ := a.Dims()
	for i := range rows {
		a.Set(i, column, factor*a.At(i, column))
	}
}

// bend is |vᵀHv| for a direction v of length 1, with the standard deviation of vᵀHv added in
// quadrature; infinite if that cannot be computed.
func (q *quadratic) bend(v mat.Vector) float64 {
	row := mat.NewVecDense(len(q.terms), nil)
	for m, f := range q.terms {
		switch i, j := f[0], f[1]; j {
		case -1:
		case i:
			row.SetVec(m, v.AtVec(i)*v.AtVec(i))
		default:
			row.SetVec(m, 2*v.AtVec(i)*v.AtVec(j))
		}
	}
	mean := mat.Dot(row, mat.NewVecDense(len(q.weights), q.weights))
	if row.SolveVec(q.root.T(), row) != nil {
		return math.Inf(1)
	}
	return math.Hypot(mean, q.sd*mat.Norm(row, 2))
}

// hessian is H.
func (q *quadratic) hessian() *mat.SymDense {
	h := mat.NewSymDense(len(q.free), nil)
	for m, f := range q.terms {
		if f[1] >= 0 {
			h.SetSym(f[0], f[1], q.weights[m])
		}
	}
	return h
}

// span sets the basis, scaled so that the longest column has length 1, with columns of at least the
// least length. It returns false if basis is singular.
func (b *neighbourhood) span(basis *mat.Dense, least float64) bool {
	k := len(b.free)
	lengths := make([]float64, k)
	for i := range k {
		lengths[i] = mat.Norm(basis.ColView(i), 2)
	}
	most := floats.Max(lengths)
	if !(floats.Min(lengths) > 0) || math.IsInf(most, 1) {
		return false
	}
	for i, length := range lengths {
		lengthen(basis, i, max(1/most, least/length))
	}
	var inverse mat.Dense
	if inverse.Inverse(basis) != nil {
		return false
	}
	b.basis, b.inverse = basis, &inverse
	return true
}

// radius is the radius of steps from the best point. It is reset to widest where a better point is
// far away.
func (s Space) radius(met [][]float64, done []record.Trial) float64 {
	r, best := widest, -1
	for i, t := range done {
		switch {
		case met[i] == nil || t.UnderWay():
		case best < 0:
			if !math.IsInf(t.Value(), -1) {
				best = i
			}
		default:
			far := floats.Distance(met[i], met[best], math.Inf(1))
			if t.Value() <= done[best].Value() {
				if far <= 1.01*r { // a step of length r, up to rounding
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

// nearest are the trials of the neighbourhood that have not failed, the nearest first, at most most
// of them.
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

// from returns the coordinates z of u.
func (b *neighbourhood) from(u []float64) []float64 {
	z := mat.NewVecDense(len(b.free), nil)
	for i, j := range b.free {
		z.SetVec(i, (u[j]-b.at[j])/b.radius)
	}
	z.MulVec(b.inverse, z)
	return z.RawVector().Data
}

// to returns the point of the cube nearest to the point with the coordinates z, or an allowed one
// near it.
func (b *neighbourhood) to(z []float64) []float64 {
	u, step := slices.Clone(b.at), mat.NewVecDense(len(z), nil)
	step.MulVec(b.basis, mat.NewVecDense(len(z), z))
	for i, j := range b.free {
		u[j] = min(max(u[j]+b.radius*step.AtVec(i), 0), 1)
	}
	if b.constrained() {
		return b.settled(u)
	}
	return u
}

// leastDistance is the least distance of a new point from all evaluated points.
func (b *neighbourhood) leastDistance() float64 { return min(leastDistance, b.radius/1000) }

// around is the region of steps. Its coordinates are dense near the best point. The unit cube of a
// regression extends to twice the distance of a step.
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
		}, false, b.leastDistance()}
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
// largest so far.
func (q *quadratic) fit(points []point, rest float64) {
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
		return
	}
	left.MulVec(a, &weights)
	left.SubVec(b, &left)
	sum := max(mat.Norm(&left, 2), exact*scale)
	var r mat.Dense
	qr.RTo(&r)
	for m := range size {
		likelihood -= math.Log(math.Abs(r.At(m, m)))
	}
	if likelihood -= float64(n) * math.Log(sum); !(likelihood > q.likelihood) {
		return
	}
	q.likelihood, q.weights = likelihood, weights.RawVector().Data
	q.rest, q.sd = rest, sum/math.Sqrt(float64(n))
	q.root = mat.NewTriDense(size, mat.Upper, nil)
	for m := range size {
		for l := m; l < size; l++ {
			q.root.SetTri(m, l, r.At(m, l))
		}
	}
}

// gain is the expected improvement at the coordinates z.
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

// improve returns the point with the largest expected improvement, excluding the points met, and
// this improvement. Candidates are the maxima of the quadratic within the radius and within
// fractions of it, and points in the direction in which the gradient is most uncertain. u is nil if
// there is none.
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
		if expected := q.gain(q.from(at)); expected > gain && isNew(at, met, q.leastDistance()) {
			u, gain = at, expected
		}
	}
	return u, gain
}

// top finds the maximum of the quadratic in a box of this half width, by coordinate ascent along
// the columns of the basis. With a diagonal basis the box is cut at the cube.
func (q *quadratic) top(half float64) []float64 {
	k := len(q.free)
	slope, h := slices.Clone(q.weights[:k]), q.hessian()
	floats.Scale(math.Sqrt(widest/q.radius), slope)
	z := make([]float64, k)
	for range 2000 {
		longest := 0.0
		for i, j := range q.free {
			down, up := -half, half
			if !q.turned {
				unit := q.radius * q.basis.At(i, i)
				down, up = max(down, -q.at[j]/unit), min(up, (1-q.at[j])/unit)
			}
			down, up = down-z[i], up-z[i]
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

// leastKnown is the unit vector along which the gradient has the largest variance; nil if it cannot
// be computed.
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
