package experiments

import (
	"cmp"
	"encoding/binary"
	"math"
	"os"
	"runtime"
	"runtime/debug"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/internal/linalg"
	"github.com/gpc-tune/gpc-tune/internal/machine"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/search"
)

// size is how large a problem the training set is. merges says that cases with equal inputs have equal rows of K.
func (t *trainingSet) size(merges bool) approx.Size {
	s := approx.Size{Cases: len(t.train), Distinct: len(t.train), New: t.held(), Classes: len(t.source.Classes)}
	if merges {
		seen := map[string]bool{}
		for _, i := range t.train {
			var row []byte
			for _, v := range t.source.X.RawRowView(i) {
				row = binary.LittleEndian.AppendUint64(row, math.Float64bits(v))
			}
			seen[string(row)] = true
		}
		s.Distinct = len(seen)
	}
	return s
}

const (
	// slack is the share of what is in use, in percent, that the garbage collector leaves lying about. A quarter costs
	// next to nothing where memory is in matrices, which hold no pointers.
	slack = 25
	// jobOverhead is what a job takes however small it is: buffers of products, and the collector's first stretch.
	jobOverhead = 8 << 20
	// leeway is what the collector may leave lying in any case: with a share of little it would run all the time.
	leeway = 64 << 20
)

// memory is how many bytes the larger of a study's jobs takes: a trial or the assessment.
func (j *job) memory(s approx.Size) int64 {
	_, dim := j.set.source.X.Dims()
	silent, shown := s, s // nothing is predicted, and what figures show too
	silent.New = 0
	if j.whole {
		shown.New = max(s.New, j.set.lattice().size())
	}
	if j.declared.Comparator != nil {
		return jobOverhead + (2*8*int64(s.Cases+shown.New)*int64(dim)+j.learning(shown, dim))*(100+slack)/100
	}
	if j.whole {
		shown.New = max(shown.New, s.Cases)
	}
	assess := j.model.Memory(shown, dim, nil, false)
	if j.whole {
		assess = max(assess, j.model.Memory(shown, dim, objective.LeaveOneOut{}, false))
	}
	if j.curvature {
		assess += j.tuned.Memory(silent, dim, j.criterion, true)
	}
	trial := j.tuned.Memory(silent, dim, j.criterion, j.gradients == objective.Exact)
	if j.optimizer == "" {
		trial = j.tuned.Memory(s, dim, j.criterion, false)
		if j.hybrid {
			trial += j.model.Memory(s, dim, nil, false)
		}
	}
	inputs := 2 * 8 * int64(s.Cases+shown.New) * int64(dim) // and as they came
	return jobOverhead + (inputs+max(trial, assess))*(100+slack)/100
}

// journal is about how many bytes the whole journal takes: 20 for each number of the predictions, of the latent means of all training
// cases, and of the points of trials with their names, and 500 for the rest of a line. Who competes is counted as if all prevailed.
func (p *Plan) journal() (bytes int64) {
	for i, s := range p.studies {
		c := p.Manifest.Configurations[s.Configuration]
		of, classes := c.Studies[s.Index], max(2, len(c.Classes))
		numbers := 3 * classes * of.Test
		if p.jobs[i].declared.Comparator != nil { // no latent processes
			numbers = (classes + 1) * of.Test
		}
		if p.jobs[i].whole {
			numbers += classes * of.Train
		}
		trials, _, _ := batches(s)
		for _, b := range trials {
			if chain := p.jobs[i].chain; chain != nil {
				b.points = cmp.Or(chain.Samples, objective.DefaultSamples)
			}
			numbers += b.trials * b.points * (2*len(c.Hyperparameters) + 10)
			if p.jobs[i].whole && p.jobs[i].optimizer != "" {
				numbers += b.trials * 60 * (len(s.Space) + 1) // steps of a path
			}
		}
		bytes += int64(20*numbers + 500*of.Jobs)
	}
	return bytes
}

// Admit says, with search.ErrMemory, if a job needs more than so many bytes; 0: than what is free.
func (p *Plan) Admit(limit int64) error { return admit(p.studies, limit) }

func admit(studies []search.Study, limit int64) error {
	if limit == 0 {
		limit, _ = machine.Available()
	}
	return search.Check(studies, limit)
}

// govern makes the process keep to the memory that jobs say they need, and has workers without a job help inside others. It
// returns how to undo that.
func (p *Plan) govern(o *search.Options) (undo func()) {
	if o.MemoryLimit == 0 {
		o.MemoryLimit, _ = machine.Available()
	}
	percent, limit := -1, debug.SetMemoryLimit(-1)
	var largest int64
	for _, s := range p.studies {
		largest = max(largest, s.Memory)
	}
	var floor []byte // counts as in use, and takes no memory, as nobody writes to it
	if _, chosen := os.LookupEnv("GOGC"); !chosen {
		if largest >= leeway {
			percent = debug.SetGCPercent(slack)
		} else {
			floor = make([]byte, leeway)
		}
	}
	if o.MemoryLimit > 0 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		debug.SetMemoryLimit(min(limit, int64(m.Sys-m.HeapReleased)+o.MemoryLimit))
	}
	o.Threads = linalg.SetThreads
	return func() {
		runtime.KeepAlive(floor)
		debug.SetMemoryLimit(limit)
		if percent >= 0 {
			debug.SetGCPercent(percent)
		}
	}
}
