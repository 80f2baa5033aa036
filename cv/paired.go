package cv

import "math"

// OverFolds tests the difference of the score, first minus second, by CorrectedT over the folds in
// which it is defined for both; folds is their number. There is no test if a value is only a bound
// (Score.Each).
func (s Score) OverFolds(first, second []Predictions, ratio float64) (t TTest, folds int) {
	var d []float64
	exact := true
	for i := range first {
		a, ok, _ := s.Of(first[i])
		b, both, _ := s.Of(second[i])
		if ok && both {
			d = append(d, a.Value-b.Value)
			exact = exact && known(s.each(first[i])) && known(s.each(second[i]))
		}
	}
	if len(d) == 0 {
		return t, 0
	}
	t = s.apart(CorrectedT(d, ratio))
	if !exact {
		t = untested(t.Value, t.DF)
	}
	return t, len(d)
}

// apart limits the interval of a difference to possible values of a difference.
func (s Score) apart(t TTest) TTest {
	if widest := s.Within[1] - s.Within[0]; widest > 0 {
		t.Lo, t.Hi = math.Max(t.Lo, -widest), math.Min(t.Hi, widest) // keeps NaN
	}
	return t
}
