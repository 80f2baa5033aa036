package schedule

import (
	"cmp"
	"math"

	"github.com/gpc-tune/gpc-tune/record"
)

// AsynchronousHalving ends a trial at a rung if it is not among the best 1/Eta of the trials that
// have come there, itself included. The rungs are the steps From Eta^k for k = 0, 1, … The value at
// a rung is the first one at its step or later. It decides at once, as asynchronous successive
// halving does (Li et al. 2020, MLSys, Algorithm 2), and ends trials where that algorithm does not
// promote them.
type AsynchronousHalving struct {
	Eta  float64 `yaml:"eta" within:"[1.1,100]"`    // 0 means 3
	From float64 `yaml:"from" within:"[1e-9,1e12]"` // first rung; 0 means 1
}

// Stops implements EarlyStop.
func (h AsynchronousHalving) Stops(sofar []record.Interim, earlier [][]record.Interim) bool {
	eta, now, before := cmp.Or(h.Eta, 3), sofar[len(sofar)-1], math.Inf(-1)
	if len(sofar) > 1 {
		before = sofar[len(sofar)-2].Step
	}
	for rung := cmp.Or(h.From, 1); rung <= now.Step; rung *= eta {
		if rung <= before { // decided at an earlier value
			continue
		}
		better, there := 0, 1
		for _, trial := range earlier {
			for _, at := range trial {
				if at.Step >= rung {
					there++
					if at.Value > now.Value {
						better++
					}
					break
				}
			}
		}
		if float64(better) >= max(1, math.Floor(float64(there)/eta)) && float64(there) >= eta {
			return true
		}
	}
	return false
}
