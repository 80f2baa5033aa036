package plan

import (
	"fmt"
	"slices"

	"github.com/dustin/go-humanize"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/experiments/job"
	"github.com/gpc-tune/gpc-tune/objective"
)

// Advice names configurations that inducing inputs would make much faster. The nominal times decide
// it, since their ratios are the same on a busy machine.
func (p *Plan) Advice() (lines []string) {
	if p.Spec.Program != nil {
		return nil
	}
	for _, s := range p.Studies {
		if s.Index > 0 || s.Job.Comparator != nil {
			continue
		}
		_, dim := s.Job.Set.Source.X.Dims()
		size := s.Job.Set.Size(false)
		with, from, err := inducingFrom(s.Job.Model, size, dim)
		if err != nil || size.Cases < from {
			continue
		}
		line := fmt.Sprintf("note: with about %d or more cases, inference: %s takes at most a tenth of the time "+
			"of %s; this data set has %d "+
			"(docs/models.md)", from, written(with), approx.Table.NameOf(plain(s.Job.Model)),
			size.Cases)
		if !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return lines
}

// less returns advice: an inference for the file with which a job takes at most half of memory; ""
// if there is none.
func less(j *job.Job, s approx.Size, memory int64) string {
	models := [2]objective.Model{j.Model, j.Tuned}
	for i := range models {
		m, ok := &models[i], false
		if m.Inference, ok = objective.Induced(m.Inference, inducing); !ok {
			return ""
		}
		if _, err := m.Check(s.Classes); err != nil {
			return ""
		}
	}
	need := j.MemoryWith(s, models[0], models[1])
	if need > memory/2 {
		return ""
	}
	return fmt.Sprintf("write inference: %s, with which it needs %s", written(models[0]),
		humanize.IBytes(uint64(need)))
}

// written is a method with inducing inputs in the notation of the file.
func written(m objective.Model) string {
	return fmt.Sprintf("{%s: {inducing: %d}}", approx.Table.NameOf(plain(m)), inducing)
}
