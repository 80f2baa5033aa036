package reports

import "github.com/gpc-tune/gpc-tune/internal/cause"

// Cause groups warnings or failures of the same kind.
type Cause struct {
	Cause   string // in words
	Meaning string // consequence for the results
	Remedy  string // empty: none is needed
	Note    bool   // for information only; nothing is wrong
	Count   int    // number of occurrences
	Notices []Notice
}

// Notice is a warning or a failure of a configuration, or with -1 of the whole run. In results.json
// it is a text.
type Notice struct {
	Configuration int
	Where         string // the job, "trial 3 and 2 more" for several
	Kind          cause.Kind
	Text          string
	Count         int // number of occurrences
}

// causes groups notices by kind, in the order of first occurrence.
func causes(notices []Notice) (out []Cause) {
	at := map[cause.Kind]int{}
	for _, n := range notices {
		i, met := at[n.Kind]
		if !met {
			i = len(out)
			at[n.Kind] = i
			var c Cause
			c.Cause, c.Meaning, c.Remedy, c.Note = n.Kind.Explanation()
			out = append(out, c)
		}
		out[i].Count += n.Count
		out[i].Notices = append(out[i].Notices, n)
	}
	return out
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

// JSONSchema is that of a text.
func (Notice) JSONSchema() map[string]any { return map[string]any{"type": "string"} }
