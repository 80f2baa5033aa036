package reports

import "github.com/gpc-tune/gpc-tune/internal/cause"

// WarningCauses groups the warnings of the whole run and of its configurations by cause: first
// problems, then information.
func (r *Report) WarningCauses() []Cause {
	all := r.Warnings[:len(r.Warnings):len(r.Warnings)]
	for i, c := range r.Configurations {
		for _, n := range c.Warnings {
			n.Configuration = i
			all = append(all, n)
		}
	}
	var wrong, notes []Cause
	for _, c := range r.causes(all) {
		if c.Note {
			notes = append(notes, c)
		} else {
			wrong = append(wrong, c)
		}
	}
	return append(wrong, notes...)
}

// Failed counts failed jobs, all jobs on record, and single failed points that a search went past.
func (r *Report) Failed() (jobs, of, points int) {
	for _, c := range r.Configurations {
		for _, f := range c.Failures {
			if f.job {
				jobs++
			} else {
				points++
			}
		}
		for _, s := range c.Studies {
			if of += len(s.Trials); s.Fit != nil && c.Program == nil {
				of++
			}
		}
	}
	return jobs, of, points
}

// FailureCauses groups the failures of all configurations by cause.
func (r *Report) FailureCauses() []Cause {
	var all []Notice
	for i, c := range r.Configurations {
		for _, f := range c.Failures {
			all = append(all, Notice{i, f.Where(), f.Kind, f.text, 1})
		}
	}
	for _, n := range r.Nested {
		for _, f := range n.OuterFolds {
			for _, c := range f.Cuts {
				if f.Status == Failed {
					all = append(all, Notice{-1, Folded("nested", f.Repeat, f.Fold), c.kind, c.String(), 1})
				}
			}
		}
	}
	return r.causes(all)
}

// causes groups notices by kind, in the order of first occurrence. A cause has the remedies for all
// configurations with its notices.
func (r *Report) causes(notices []Notice) (out []Cause) {
	at, remedies := map[cause.Kind]int{}, [][]string{}
	for _, n := range notices {
		i, met := at[n.Kind]
		if !met {
			i = len(out)
			at[n.Kind] = i
			var c Cause
			c.Cause, c.Meaning, c.Note = n.Kind.Explanation()
			out, remedies = append(out, c), append(remedies, nil)
		}
		out[i].Count += n.Count
		out[i].Notices = append(out[i].Notices, n)
		remedies[i] = append(remedies[i], r.Remedy(n.Configuration, n))
		out[i].Remedy = joined(remedies[i])
	}
	return out
}

// Remedy returns what to do about a notice of a configuration; empty: nothing is known to help.
func (r *Report) Remedy(configuration int, n Notice) string {
	return cause.Remedy(n.Kind, r.setting(configuration))
}

// setting returns the program, method and strategy of a configuration; -1 stands for the whole run.
func (r *Report) setting(configuration int) cause.Setting {
	if configuration < 0 {
		return cause.Setting{}
	}
	c := r.Configurations[configuration]
	return cause.Setting{Program: c.Program != nil, Method: c.Inference.Name(), Strategy: c.Tune}
}

// String is a notice without its configuration.
func (n Notice) String() string {
	if n.Where == "" {
		return n.Text
	}
	return n.Where + ": " + n.Text
}

// MarshalText is String.
func (n Notice) MarshalText() ([]byte, error) { return []byte(n.String()), nil }

// JSONSchema is the schema of a text.
func (Notice) JSONSchema() map[string]any { return map[string]any{"type": "string"} }
