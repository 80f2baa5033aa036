package cv

import "math"

// recall is the fraction of the cases of a class that were decided to be of it, with Wilson's
// interval; false: the class does not occur.
func recall(p Predictions, class int) (Estimate, bool) {
	hits, rows := 0.0, 0.0
	for i, label := range p.Labels {
		if label != class {
			continue
		}
		rows += p.weight(i)
		if p.Decision(i) == class {
			hits += p.weight(i)
		}
	}
	if rows == 0 {
		return Estimate{}, false
	}
	lo, hi := wilson(hits/rows, p.effective(func(i int) bool { return p.Labels[i] == class }))
	return Estimate{hits / rows, lo, hi}, true
}

// recallOfTwo is recall of one of two classes; undefined for more classes.
func recallOfTwo(class int) func(Predictions) (Estimate, bool) {
	return func(p Predictions) (Estimate, bool) {
		if _, classes := p.Proba.Dims(); classes != 2 {
			return Estimate{}, false
		}
		return recall(p, class)
	}
}

// balancedAccuracy is the mean r of the recalls r_c of the k classes that occur, k ≥ 2. The classes
// are disjoint, so the squared distances to the ends of Wilson's intervals [l_c, u_c] add up (Zou &
// Donner 2008, Statistics in Medicine 27:1693):
//
//	r - √Σ (r_c - l_c)² / k … r + √Σ (u_c - r_c)² / k
func balancedAccuracy(p Predictions) (Estimate, bool) {
	k, sum, below, above := 0.0, 0.0, 0.0, 0.0
	_, classes := p.Proba.Dims()
	for c := range classes {
		r, occurs := recall(p, c)
		if !occurs {
			continue
		}
		k++
		sum += r.Value
		below += (r.Value - r.Lo) * (r.Value - r.Lo)
		above += (r.Hi - r.Value) * (r.Hi - r.Value)
	}
	if k < 2 {
		return Estimate{}, false
	}
	return Estimate{sum / k, (sum - math.Sqrt(below)) / k, (sum + math.Sqrt(above)) / k}, true
}

// margins returns three fractions of the rows for every class: the class is the true one, the class
// is decided for, and both.
func (p Predictions) margins() (of, decided, both []float64) {
	_, classes := p.Proba.Dims()
	of, decided, both = make([]float64, classes), make([]float64, classes), make([]float64, classes)
	for i, label := range p.Labels {
		d := p.Decision(i)
		w := p.weight(i)
		of[label] += w
		decided[d] += w
		if d == label {
			both[d] += w
		}
	}
	for _, v := range [][]float64{of, decided, both} {
		for c := range v {
			v[c] /= p.Total()
		}
	}
	return of, decided, both
}

// f1 is, for two classes, 2 TP/(2 TP + FP + FN) of the second class, if that class occurs. It is an
// increasing function of J = TP/(TP + FP + FN), F = 2J/(1+J), and J is a rate with Wilson's
// interval. For more classes it is the mean over the classes that occur or are decided for, with
// the normal interval of its linearisation. Of the k classes, c has
// the fractions p_c of the cases and q_c of the decisions d. The linearisation is the mean over
// cases of F + Σ_c (2 [y = d = c] - F_c ([y = c] + [d = c]))/(k (p_c + q_c)).
func f1(p Predictions) (Estimate, bool) {
	of, decided, both := p.margins()
	if len(of) == 2 {
		if of[1] == 0 {
			return Estimate{}, false
		}
		either := func(i int) bool { return p.Labels[i] == 1 || p.Decision(i) == 1 }
		hits, rows := 0.0, 0.0
		for i, label := range p.Labels {
			if either(i) {
				rows += p.weight(i)
			}
			if label == 1 && p.Decision(i) == 1 {
				hits += p.weight(i)
			}
		}
		j := hits / rows
		lo, hi := wilson(j, p.effective(either))
		return Estimate{2 * j / (1 + j), 2 * lo / (1 + lo), 2 * hi / (1 + hi)}, true
	}
	k, f, all := 0.0, make([]float64, len(of)), 0.0
	for c := range of {
		if n := of[c] + decided[c]; n > 0 {
			f[c] = 2 * both[c] / n
			k++
			all += f[c]
		}
	}
	all /= k
	v := make([]float64, len(p.Labels))
	for i, label := range p.Labels {
		d := p.Decision(i)
		v[i] = all - (f[label]/(of[label]+decided[label])+f[d]/(of[d]+decided[d]))/k
		if d == label {
			v[i] += 2 / (k * (of[d] + decided[d]))
		}
	}
	e := p.mean(v)
	return Estimate{all, max(0, e.Lo), min(1, e.Hi)}, true
}

// matthews is the correlation of classes and decisions as indicators, for two classes Matthews's φ
// (1975, Biochimica et Biophysica Acta 405:442), for more Gorodkin's R_K (2004, Computational
// Biology and Chemistry 28:367). With p_c, q_c and a the fractions of the cases that are of class
// c, that are decided to be of it, and that are decided correctly,
//
//	R = (a - Σ p_c q_c)/√((1 - Σ p_c²)(1 - Σ q_c²)),
//
// and 0 if all decisions are for one class. It is defined if at least two classes occur. The
// interval is the normal interval of atanh R, with the variance of the linearised R over cases.
// This is too narrow if most decisions are for one class, and undefined if all are or if R is ±1.
// So a second interval adds two cases, divided equally among all cells of the table of classes and
// decisions: ½ in each of four (Haldane 1940, Annals of Eugenics 10:218; Anscombe 1956, Biometrika
// 43:461). The result is the smallest interval that contains both and R.
func matthews(p Predictions) (Estimate, bool) {
	e, ok := correlated(p, 0)
	if !ok {
		return e, false
	}
	wide, _ := correlated(p, 2)
	lo, hi := min(wide.Lo, e.Value), max(wide.Hi, e.Value)
	if !math.IsNaN(e.Lo) {
		lo, hi = min(lo, e.Lo), max(hi, e.Hi)
	}
	return Estimate{e.Value, lo, hi}, true
}

// alone reports whether a single share is not 0.
func alone(shares []float64) bool {
	n := 0
	for _, share := range shares {
		if share > 0 {
			n++
		}
	}
	return n == 1
}

// correlated is R and its interval with more cases added, spread equally over the table.
func correlated(p Predictions, more float64) (Estimate, bool) {
	of, decided, both := p.margins()
	classes, cases := float64(len(of)), p.effective(all)
	share := more / cases // added cases per effective case
	cell := share / (classes * classes)
	a, pq, pp, qq := 0.0, 0.0, 0.0, 0.0
	for c := range of {
		of[c] = (of[c] + classes*cell) / (1 + share)
		decided[c] = (decided[c] + classes*cell) / (1 + share)
		both[c] = (both[c] + cell) / (1 + share)
		a += both[c]
		pq += of[c] * decided[c]
		pp += of[c] * of[c]
		qq += decided[c] * decided[c]
	}
	switch {
	case alone(of): // alone takes fractions whose sum may differ from 1 in the last digit
		return Estimate{}, false
	case alone(decided):
		return withoutInterval(0), true
	}
	scale := math.Sqrt((1 - pp) * (1 - qq))
	r := min(1, max(-1, (a-pq)/scale))
	if 1-math.Abs(r) < 1e-12 { // far above rounding, far below the effect of one error
		return withoutInterval(math.Copysign(1, r)), true
	}
	linear := func(label, d int) float64 {
		v := (pq-decided[label]+pq-of[d]-a)/scale + r*((of[label]-pp)/(1-pp)+(decided[d]-qq)/(1-qq))
		if d == label {
			v += 1 / scale
		}
		return v
	}
	v, added := make([]float64, len(p.Labels)), 0.0
	for i, label := range p.Labels {
		v[i] = linear(label, p.Decision(i))
	}
	if more > 0 {
		for label := range of {
			for d := range of {
				added += cell / (cases - 1) * linear(label, d) * linear(label, d)
			}
		}
	}
	variance := (rowsOf{v, p.Units(), p.Weight}.variance(0) + added) / ((1 + share) * (1 + share))
	e := normal(math.Atanh(r), math.Sqrt(variance)/(1-r*r))
	return Estimate{r, math.Tanh(e.Lo), math.Tanh(e.Hi)}, true
}
