package strictyaml

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Place is a place in a text; line 0 is the text as a whole.
type Place struct {
	File         string
	Line, Column int
}

// Problem is one mistake in a text: where it stands, what was expected, and what to do.
type Problem struct {
	File         string
	Line, Column int
	Message      string
}

// Error formats the problem as file:line:column: message.
func (p Problem) Error() string {
	if p.Line == 0 {
		return fmt.Sprintf("%s: %s", p.File, p.Message)
	}
	return fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, p.Column, p.Message)
}

// Problems are all the mistakes of a text, in its order. A nil Problems is no error.
type Problems []Problem

// ErrMistakes is what all Problems are, for errors.Is.
var ErrMistakes = errors.New("mistakes in a file")

// Is says that they are ErrMistakes.
func (ps Problems) Is(target error) bool { return target == ErrMistakes }

// Error lists the problems, one a line.
func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.Error()
	}
	return strings.Join(lines, "\n")
}

// Limits on what is told.
const (
	maxAlike   = 20   // problems of one kind that are told in full; of the others, how many there are
	maxMessage = 4000 // bytes of one
)

// Findings collects the problems of one text, or of several: see As. The same mistake at the same
// place is kept once.
type Findings struct {
	file string
	*collected
}

type collected struct {
	found    int // problems in all, repeated ones included
	problems []Problem
	places   map[instance]bool
	alike    map[string]int // by the format of the message
}

// instance is where a mistake of a kind is.
type instance struct {
	Place
	kind    string
	message string // of those that are told
}

// NewFindings makes an empty collection for a text that file names.
func NewFindings(file string) *Findings {
	return &Findings{file, &collected{places: map[instance]bool{}, alike: map[string]int{}}}
}

// As is the same collection for another text.
func (f *Findings) As(file string) *Findings { return &Findings{file, f.collected} }

// Found counts what was put in, so that a reader of a part can tell whether something was wrong
// with it.
func (f *Findings) Found() int { return f.found }

// Place is where a node of this text stands; nil, or a node that is not in the text, stands for the
// text as a whole.
func (f *Findings) Place(n *Node) Place {
	if n == nil {
		return Place{File: f.file}
	}
	return Place{f.file, n.Line, n.Column}
}

// At adds a problem at a node of this text. Problems of the same format are of a kind.
func (f *Findings) At(n *Node, format string, args ...any) { f.AtPlace(f.Place(n), format, args...) }

// AtPlace adds a problem at a place, which may be in another text.
func (f *Findings) AtPlace(p Place, format string, args ...any) {
	f.found++
	i := instance{Place: p, kind: format}
	full, met := f.alike[format] >= maxAlike, f.places[i]
	f.places[i] = true
	if !full {
		i.message = fmt.Sprintf(format, args...)
		if len(i.message) > maxMessage {
			i.message = strings.ToValidUTF8(i.message[:maxMessage], "") + "…"
		}
	}
	if full && met || !full && f.places[i] {
		return
	}
	f.places[i] = true
	f.alike[format]++
	if !full {
		f.problems = append(f.problems, Problem{p.File, p.Line, p.Column, i.message})
	}
}

// Err returns the problems, sorted by place, or nil. A last one counts those beyond maxAlike of a
// kind.
func (f *Findings) Err() error {
	if len(f.problems) == 0 {
		return nil
	}
	all := slices.Clone(f.problems)
	slices.SortStableFunc(all, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	all = slices.Compact(all)
	more := 0
	for _, n := range f.alike {
		more += max(0, n-maxAlike)
	}
	if more > 0 {
		all = append(all, Problem{File: f.file, Message: fmt.Sprintf("and at least %d more like these", more)})
	}
	return Problems(all)
}
