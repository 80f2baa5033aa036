package reports

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

// Failed counts what failed: jobs, of so many on record, and single points that a search went past.
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
