package job

import (
	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/objective"
)

// Memory is how many bytes the larger of a study's jobs takes: a trial or the assessment.
func (j *Job) Memory(s approx.Size) int64 {
	_, dim := j.Set.Source.X.Dims()
	silent, shown := s, s // nothing is predicted, and what figures show too
	silent.New = 0
	if j.Whole {
		shown.New = max(s.New, j.Set.lattice().size())
	}
	if j.Comparator != nil {
		return Footprint(2*8*int64(s.Cases+shown.New)*int64(dim) + j.Comparator.Memory(shown, dim))
	}
	if j.Whole {
		shown.New = max(shown.New, s.Cases)
	}
	assess := j.Model.Memory(shown, dim, nil, false)
	if j.Whole {
		assess = max(assess, j.Model.Memory(shown, dim, objective.LeaveOneOut{}, false))
	}
	if j.Curvature {
		assess += j.Tuned.Memory(silent, dim, j.Criterion, true)
	}
	trial := j.Tuned.Memory(silent, dim, j.Criterion, j.Gradients == objective.Exact)
	if j.Optimizer == "" {
		trial = j.Tuned.Memory(s, dim, j.Criterion, false)
		if j.Hybrid {
			trial += j.Model.Memory(s, dim, nil, false)
		}
	}
	inputs := 2 * 8 * int64(s.Cases+shown.New) * int64(dim) // and as they came
	return Footprint(inputs + max(trial, assess))
}

const (
	// Slack is the share of what is in use, in percent, that the garbage collector leaves lying about. A quarter costs
	// next to nothing where memory is in matrices, which hold no pointers.
	Slack = 25
	// jobOverhead is what a job takes however small it is: buffers of products, and the collector's first stretch.
	jobOverhead = 8 << 20
)

// Footprint is what a job takes that needs so many bytes.
func Footprint(bytes int64) int64 { return jobOverhead + bytes*(100+Slack)/100 }
