package reports

import "regexp"

// WarningCauses groups the warnings of the whole run and of its configurations by cause: first
// problems, then information.
func (r *Report) WarningCauses() []Cause {
	var all []Notice
	for _, w := range r.Warnings {
		all = append(all, Notice{Configuration: -1, Text: w, Count: 1})
	}
	for i, c := range r.Configurations {
		for _, n := range c.notices {
			n.Configuration = i
			all = append(all, n)
		}
	}
	var wrong, notes []Cause
	for _, c := range causes(all, warningKinds, "", "") {
		if c.Note {
			notes = append(notes, c)
		} else {
			wrong = append(wrong, c)
		}
	}
	return append(wrong, notes...)
}

// FailureCauses groups the failures of all configurations by cause.
func (r *Report) FailureCauses() []Cause {
	var all []Notice
	for i, c := range r.Configurations {
		for _, f := range c.Failures {
			all = append(all, Notice{i, f.Where(), repeated.ReplaceAllString(f.Message, ""), 1})
		}
	}
	for _, n := range r.Nested {
		for _, f := range n.OuterFolds {
			for _, c := range f.Cuts {
				if f.Status == Failed {
					all = append(all, Notice{-1, Folded("nested", f.Repeat, f.Fold), c.String(), 1})
				}
			}
		}
	}
	return causes(all, failureKinds, "what failed has no result", "run with --retry-failed runs failed jobs again")
}

// repeated matches the part of a failure's message that says where it occurred, which is shown
// separately.
var repeated = regexp.MustCompile(`^.*: (restart|chain) from \[[^]]*\]: |objective: (gradient )?at [^:]*: ` +
	`|\b(approx|objective|search|cv|linalg|kernel|likelihood|comparator): `)
