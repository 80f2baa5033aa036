package schedule

import (
	"cmp"
	"math"
	"slices"

	"github.com/gpc-tune/gpc-tune/record"
)

// Median ends a trial if its best value so far is less than the median of the averages of the
// earlier trials up to the same step (Golovin et al. 2017, KDD, section 3.2.1).
type Median struct {
	// number of earlier trials with a value up to the step that the rule needs; 0 means 5
	Trials int `yaml:"trials" within:"[1,1000]"`
	// first step at which a trial may end
	From float64 `yaml:"from"`
}

// Stops implements EarlyStop.
func (m Median) Stops(sofar []record.Interim, earlier [][]record.Interim) bool {
	now := sofar[len(sofar)-1].Step
	if now < m.From {
		return false
	}
	var averages []float64
	for _, trial := range earlier {
		sum, n := 0.0, 0.0
		for _, at := range trial {
			if at.Step <= now {
				sum, n = sum+float64(at.Value), n+1
			}
		}
		if n > 0 {
			averages = append(averages, sum/n)
		}
	}
	if len(averages) < cmp.Or(m.Trials, 5) {
		return false
	}
	best := math.Inf(-1)
	for _, at := range sofar {
		best = max(best, float64(at.Value))
	}
	slices.Sort(averages)
	n := len(averages)
	return best < (averages[(n-1)/2]+averages[n/2])/2
}
