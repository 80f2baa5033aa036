package plan

import (
	"errors"

	"github.com/gpc-tune/gpc-tune/cv/split"
	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/internal/strictyaml"
)

// errTold is returned by a step whose problem has already been reported.
var errTold = errors.New("plan: told")

// planner makes a plan.
type planner struct {
	*Plan
	*Reader
	*strictyaml.Findings
	declared map[string]int // number of declarations of each configuration, by its identity
	size     planSize
	tooMany  bool // too many studies; already reported
}

// tell reports a problem and returns errTold.
func (p *planner) tell(at strictyaml.Place, format string, args ...any) error {
	p.AtPlace(at, format, args...)
	return errTold
}

// warn adds a warning to the manifest.
func (p *planner) warn(w cause.Notice) {
	p.Manifest.Warnings = append(p.Manifest.Warnings, w)
}

// Limits on a plan; larger plans are refused before they are made.
const (
	maxStudies = 1_000_000
	maxJobs    = 10_000_000
)

// planSize counts the parts of a plan.
type planSize struct{ studies, jobs, folded int }

// grow adds studies with this many jobs each, and the cases of further folds, to the size of the
// plan. It reports once if the plan becomes too large.
func (p *planner) grow(at strictyaml.Place, studies, jobs, folded int) bool {
	p.size.studies, p.size.jobs, p.size.folded = p.size.studies+studies, p.size.jobs+studies*jobs, p.size.folded+folded
	for _, of := range []struct {
		what    string
		n, most int
	}{
		{"trainings (configurations × folds)", p.size.studies, maxStudies},
		{"jobs", p.size.jobs, maxJobs},
		{"cases in the folds of cross-validated objectives", p.size.folded, split.MaxFolded},
	} {
		if of.n > of.most && !p.tooMany {
			p.AtPlace(at, "the experiment has more than %d %s; split it", of.most, of.what)
			p.tooMany = true
		}
	}
	return !p.tooMany
}
