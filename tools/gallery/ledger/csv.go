package ledger

import (
	"encoding/csv"
	"errors"
	"io"
	"slices"
	"strings"
)

// added are the columns that follow the columns of the ledger.
var added = []string{"here", "verdict", "reason", "experiment", "rerun"}

// Write writes entries as CSV: the columns of the ledger, then here, verdict, reason, experiment
// and rerun. The reason of a difference begins with its cause. rerun names the origin of a value
// whose experiment was not run again.
func Write(w io.Writer, entries []Entry) error {
	out := csv.NewWriter(w)
	out.Write(slices.Concat(columns, added)) // out keeps the first error
	for _, e := range entries {
		reason, rerun := e.Reason, "yes"
		switch {
		case e.Kept != "":
			rerun = "no: " + e.Kept
		case e.Verdict == NotApplicable:
			rerun = ""
		}
		if e.Cause != "" {
			reason = string(e.Cause) + ": " + reason
		}
		out.Write(append(e.fields(), e.Here, string(e.Verdict), reason, strings.Join(e.Experiments, " "), rerun))
	}
	out.Flush()
	return out.Error()
}

// Read reads what Write has written.
func Read(r io.Reader) ([]Entry, error) {
	records, err := csv.NewReader(r).ReadAll()
	if err != nil {
		return nil, err
	}
	if len(records) == 0 || !slices.Equal(records[0], slices.Concat(columns, added)) {
		return nil, errors.New("the columns are not " + strings.Join(slices.Concat(columns, added), ","))
	}
	var entries []Entry
	for _, f := range records[1:] {
		e := Entry{Row: Row{f[0], f[1], f[2], f[3], f[4], f[5], f[6]}, Here: f[7], Verdict: Verdict(f[8]),
			Reason: f[9], Experiments: strings.Fields(f[10])}
		if e.Verdict == Differs {
			cause, reason, _ := strings.Cut(e.Reason, ": ")
			e.Cause, e.Reason = Cause(cause), reason
		}
		if kept, is := strings.CutPrefix(f[11], "no: "); is {
			e.Kept = kept
		}
		entries = append(entries, e)
	}
	return entries, nil
}
