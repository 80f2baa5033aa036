package tables

import (
	"fmt"
	"strings"
)

// Limits on the list of faults.
const (
	MaxFaults = 20  // number of faults listed in full
	maxFault  = 500 // bytes of one fault
	maxAlso   = 4   // number of further lines listed for one fault
)

// Fault is one problem of a file. Line and Column (in bytes of UTF-8) count from 1; 0 means
// unknown. The first few further lines with the same problem are listed.
type Fault struct {
	Line, Column int
	Message      string
	lines        []int // further lines with the problem
	further      int   // number of lines beyond lines
	kind         any   // nil: every problem is reported
}

// fault identifies a problem of this package that is reported once.
type fault struct {
	what   string
	column int
}

// also lists the further lines with the same problem.
func (f Fault) also(place func(line, column int) string) string {
	if len(f.lines) == 0 {
		return ""
	}
	text := "; likewise in line"
	if place != nil {
		text = "; likewise in"
	} else if len(f.lines)+f.further > 1 {
		text += "s"
	}
	for i, line := range f.lines {
		switch {
		case i > 0 && i == len(f.lines)-1 && f.further == 0:
			text += " and"
		case i > 0:
			text += ","
		}
		if place != nil {
			text += " " + place(line, 0)
		} else {
			text += fmt.Sprintf(" %d", line)
		}
	}
	if f.further > 0 {
		text += fmt.Sprintf(" and %d more", f.further)
	}
	return text
}

// FileError lists the problems of a file: the first ones in full, one per line as path:line:column:
// message, and the number of the others.
type FileError struct {
	Path   string
	Faults []Fault
	More   int

	notUTF8 bool // it was read as UTF-8, and is text of another encoding
	// place names a place of a file without lines; column 0 is a row as a whole.
	place func(line, column int) string
}

// Place names a place of a file without lines; empty for a file with lines.
func (e *FileError) Place(line, column int) string {
	if e.place == nil || line == 0 {
		return ""
	}
	return e.place(line, column)
}

// shift moves the faults down by this many lines, which precede the part of a file with the faults.
func (e *FileError) shift(lines int) {
	for i := range e.Faults {
		f := &e.Faults[i]
		for k := range f.lines {
			f.lines[k] += lines
		}
		if f.Line > 0 {
			f.Line += lines
		}
	}
}

// at returns the path of the file and a position in it.
func (e *FileError) at(line, column int) string {
	if e.place != nil && line > 0 {
		return ":" + e.place(line, column)
	}
	text := ""
	for _, n := range []int{line, column} {
		if n > 0 {
			text += fmt.Sprintf(":%d", n)
		}
	}
	return text
}

func (e *FileError) Error() string {
	var b strings.Builder
	for i, f := range e.Faults {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(e.Path + e.at(f.Line, f.Column) + ": " + f.Message + f.also(e.place))
	}
	if e.More > 0 {
		fmt.Fprintf(&b, "\n%s: and %d more", e.Path, e.More)
	}
	return b.String()
}

// Add adds a fault. Line and column count from 1; 0 means unknown.
func (e *FileError) Add(line, column int, format string, args ...any) {
	e.Once(nil, line, column, format, args...)
}

// Repeats reports whether the problem was already reported for an earlier line, and adds this line
// to it.
func (e *FileError) Repeats(kind any, line int) bool {
	for i := range e.Faults {
		f := &e.Faults[i]
		switch {
		case f.kind != kind:
			continue
		case len(f.lines) < maxAlso:
			f.lines = append(f.lines, line)
		default:
			f.further++
		}
		return true
	}
	return false
}

// Once adds a fault. If kind is not empty, it adds a fault of this kind only once.
func (e *FileError) Once(kind any, line, column int, format string, args ...any) {
	if kind != nil && e.Repeats(kind, line) {
		return
	}
	if len(e.Faults) == MaxFaults {
		e.More++
		return
	}
	message := fmt.Sprintf(format, args...)
	if len(message) > maxFault {
		message = strings.ToValidUTF8(message[:maxFault], "") + "…"
	}
	e.Faults = append(e.Faults, Fault{Line: line, Column: column, Message: message, kind: kind})
}

// Refuse adds a fault of the file as a whole.
func (e *FileError) Refuse(format string, args ...any) error {
	e.Add(0, 0, format, args...)
	return e
}

// Err returns e if there are faults.
func (e *FileError) Err() error {
	if len(e.Faults) == 0 {
		return nil
	}
	return e
}
