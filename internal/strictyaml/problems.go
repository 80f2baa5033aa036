package strictyaml

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Place is a position in a text; line 0 is the text as a whole.
type Place struct {
	File         string
	Line, Column int
}

// Problem is one mistake in a text: its position, what was expected, and how to correct it.
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

// Problems lists the mistakes of a text, in order. A nil Problems is no error.
type Problems []Problem

// ErrMistakes matches all Problems in errors.Is.
var ErrMistakes = errors.New("mistakes in a file")

// Is reports whether target is ErrMistakes.
func (ps Problems) Is(target error) bool { return target == ErrMistakes }

// Error lists the problems, one per line.
func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.Error()
	}
	return strings.Join(lines, "\n")
}

// Limits on reported problems.
const (
	maxAlike   = 20   // problems of one kind that are reported in full; the others are counted
	maxMessage = 4000 // bytes of one message
)

// Findings collects the problems of one text, or of several: see As. The same mistake at the same
// position is kept once.
type Findings struct {
	file string
	*collected
}

type collected struct {
	found    int // number of problems, including repeated ones
	problems []Problem
	places   map[instance]bool
	alike    map[string]int // number of problems by the format of their message
}

// instance is the position of a mistake of a kind.
type instance struct {
	Place
	kind    string
	message string // message of a mistake that is reported
}

// NewFindings makes an empty collection for a text; file names it.
func NewFindings(file string) *Findings {
	return &Findings{file, &collected{places: map[instance]bool{}, alike: map[string]int{}}}
}

// As returns the same collection for another text.
func (f *Findings) As(file string) *Findings { return &Findings{file, f.collected} }

// Found counts the problems added, so that a reader of a part can detect whether the part had any.
func (f *Findings) Found() int { return f.found }

// Place is the position of a node of this text; for nil, or a node that is not in the text, it is
// the text as a whole.
func (f *Findings) Place(n *Node) Place {
	if n == nil {
		return Place{File: f.file}
	}
	return Place{f.file, n.Line, n.Column}
}

// At adds a problem at a node of this text. Problems with the same format are of the same kind.
func (f *Findings) At(n *Node, format string, args ...any) { f.AtPlace(f.Place(n), format, args...) }

// AtPlace adds a problem at a position, which may be in another text.
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

// Err returns the problems, sorted by position, or nil. The last one counts those beyond maxAlike
// of a kind.
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
