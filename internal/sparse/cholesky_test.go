package sparse

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// TestCholesky compares a factor with dense matrices.
func TestCholesky(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 1))
		n := 1 + rng.IntN(120)
		rows, v, s, gamma := make([][]int, n), make([][]float64, n), make([]float64, n), make([]float64, n)
		dense := mat.NewDense(n, n, nil)
		for r := range rows {
			rows[r] = rng.Perm(n)[:1+rng.IntN(min(n, 5))]
			for _, c := range rows[r] {
				v[r] = append(v[r], rng.NormFloat64())
				dense.Set(r, c, v[r][len(v[r])-1])
			}
			s[r], gamma[r] = 0.1+rng.Float64(), rng.NormFloat64()
		}
		var a, inverse, product mat.Dense
		a.Mul(dense.T(), dense)
		for i, x := range s {
			a.Set(i, i, a.At(i, i)+x)
		}
		if err := inverse.Inverse(&a); err != nil {
			t.Fatal(err)
		}
		product.Product(&inverse, mat.NewDiagDense(n, gamma), &inverse)
		p := NewPattern(n, rows)
		c := p.Cholesky(v)
		if !c.Factor(gamma) && !c.Factor(s) || !c.Factor(s) {
			t.Fatal("not positive definite")
		}
		near := func(what string, got, want float64) {
			t.Helper()
			if !(math.Abs(got-want) <= 1e-9*max(1, math.Abs(want))) {
				t.Errorf("seed %d: %s is %.12g, from dense matrices %.12g", seed, what, got, want)
			}
		}
		right := mat.NewDense(n, 1+rng.IntN(70), nil)
		right.Apply(func(_, _ int, _ float64) float64 { return rng.NormFloat64() }, right)
		var solutions mat.Dense
		solutions.Mul(&inverse, right)
		c.SolveAll(right.RawMatrix())
		if !mat.EqualApprox(right, &solutions, 1e-8) {
			t.Errorf("seed %d: the solutions of several columns differ", seed)
		}
		logDet, _ := mat.LogDet(&a)
		near("½ log|A|", c.LogDet(), logDet/2)
		x, want := make([]float64, n), mat.NewVecDense(n, nil)
		for i := range x {
			x[i] = rng.NormFloat64()
		}
		want.MulVec(&inverse, mat.NewVecDense(n, x))
		c.Solve(x)
		for i := range x {
			near("A⁻¹x", x[i], want.AtVec(i))
		}
		one, two := c.Inverse(gamma)
		for r, row := range rows {
			near("[A⁻¹]_ii", one.Diagonal[r], inverse.At(r, r))
			near("[A⁻¹ΓA⁻¹]_ii", two.Diagonal[r], product.At(r, r))
			whole := mat.NewVecDense(n, dense.RawRowView(r))
			var av, tv mat.VecDense
			av.MulVec(&inverse, whole)
			tv.MulVec(&product, whole)
			for a, i := range row {
				near("A⁻¹v", one.Products[r][a], av.AtVec(i))
				near("A⁻¹ΓA⁻¹v", two.Products[r][a], tv.AtVec(i))
			}
			near("vᵀA⁻¹v", c.Square(row, v[r]), mat.Dot(whole, &av))
		}
	}
}

// TestRowsWithWeights compares a factor of Vᵀ diag(r) V + diag(s), the entries for a change of r, and products of its
// inverse with sparse columns, with dense matrices.
func TestRowsWithWeights(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 2))
		n := 3 + rng.IntN(80)
		rows, v, s := make([][]int, 2*n), make([][]float64, 2*n), make([]float64, n)
		r, change := make([]float64, 2*n), make([]float64, 2*n)
		dense := mat.NewDense(2*n, n, nil)
		for i := range rows {
			rows[i] = rng.Perm(n)[:1+rng.IntN(3)]
			for _, c := range rows[i] {
				v[i] = append(v[i], rng.NormFloat64())
				dense.Set(i, c, v[i][len(v[i])-1])
			}
			r[i], change[i] = 0.1+rng.Float64(), rng.NormFloat64()
		}
		r[0] = 0
		for i := range s {
			s[i] = 0.1 + rng.Float64()
		}
		var a, inverse, moved, product mat.Dense
		a.Product(dense.T(), mat.NewDiagDense(2*n, r), dense)
		for i, x := range s {
			a.Set(i, i, a.At(i, i)+x)
		}
		if err := inverse.Inverse(&a); err != nil {
			t.Fatal(err)
		}
		moved.Product(dense.T(), mat.NewDiagDense(2*n, change), dense)
		product.Product(&inverse, &moved, &inverse)
		c := NewPattern(n, rows).Cholesky(v)
		if c.Weigh(r); !c.Factor(s) {
			t.Fatal("not positive definite")
		}
		near := func(what string, got, want float64) {
			t.Helper()
			if !(math.Abs(got-want) <= 1e-9*max(1, math.Abs(want))) {
				t.Errorf("seed %d: %s is %.12g, from dense matrices %.12g", seed, what, got, want)
			}
		}
		one, two := c.InverseByRows(change)
		for i, row := range rows {
			whole := mat.NewVecDense(n, dense.RawRowView(i))
			var av, tv mat.VecDense
			av.MulVec(&inverse, whole)
			tv.MulVec(&product, whole)
			for k, j := range row {
				near("A⁻¹v", one.Products[i][k], av.AtVec(j))
				near("A⁻¹ΓA⁻¹v", two.Products[i][k], tv.AtVec(j))
			}
		}
		var gram mat.Dense
		some := dense.Slice(0, 3, 0, n)
		gram.Product(some, &inverse, some.T())
		got, less := c.Grams(3, rows[:3], v[:3], false)[0], c.Grams(3, rows[:3], v[:3], true)[0]
		for i, alone := range c.Grams(1, rows[:3], v[:3], false) {
			near("vᵀA⁻¹v", alone.Data[0], gram.At(i, i))
		}
		between := func(at func(i, j int) float64, i, j int) float64 { return at(i, i) - 2*at(i, j) + at(j, j) }
		for i := range 3 {
			sum := 0.0
			for j := range 3 {
				at := func(i, j int) float64 { return less.Data[min(i, j)*less.Stride+max(i, j)] }
				near("xᵀA⁻¹x", got.Data[min(i, j)*got.Stride+max(i, j)], gram.At(i, j))
				near("of a difference", between(at, i, j), between(gram.At, i, j))
				sum += at(i, j)
			}
			near("the sum of a row", sum, 0)
		}
	}
}
