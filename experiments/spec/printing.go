package spec

import (
	"fmt"
	"strconv"

	"github.com/gpc-tune/gpc-tune/internal/registry"
	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports/figure"
)

// Printing configures figures in files for print.
type Printing struct {
	Width width    `yaml:"width"`
	Font  fontSize `yaml:"font"`
	Title titled   `yaml:"title"`
	Lines lines    `yaml:"lines"`
}

// Print is its form in a manifest, nil if nothing is set.
func (p Printing) Print() *record.Print {
	print := record.Print{Width: p.Width.points, Font: p.Font.points, Untitled: p.Title == "none",
		Lines: int(p.Lines)}
	if print == (record.Print{}) {
		return nil
	}
	return &print
}

// width is the width of a figure: "84mm".
type width struct{ points float64 }

// UnmarshalText reads a length from 50mm (a narrow column) to 1000mm (a poster).
func (w *width) UnmarshalText(text []byte) (err error) {
	w.points, err = within(string(text), "50mm", "1000mm")
	return err
}

// fontSize is the size of the labels of a figure: "8pt".
type fontSize struct{ points float64 }

// UnmarshalText reads a size that keeps all texts of a figure legible.
func (s *fontSize) UnmarshalText(text []byte) (err error) {
	s.points, err = within(string(text), fmt.Sprintf("%gpt", figure.LeastFont), "24pt")
	return err
}

// within reads a length and checks its bounds.
func within(text, least, most string) (float64, error) {
	points, err := figure.Length(text)
	if err != nil {
		return 0, err
	}
	lo, err1 := figure.Length(least)
	hi, err2 := figure.Length(most)
	if err1 == nil && err2 == nil && lo <= points && points <= hi {
		return points, nil
	}
	return 0, fmt.Errorf("%s is not from %s to %s", text, least, most)
}

// lines is the number of lines in a panel of curves.
type lines int

// UnmarshalText reads a number from 2 to 12.
func (l *lines) UnmarshalText(text []byte) error {
	n, err := strconv.Atoi(string(text))
	if err != nil || n < 2 || n > 12 {
		return fmt.Errorf("%s is no whole number from 2 to 12", text)
	}
	*l = lines(n)
	return nil
}

// titled is whether a figure has its title: "shown" or "none".
type titled string

// Names are the possible values.
func (titled) Names() []string { return []string{"shown", "none"} }

// UnmarshalText reads one of them.
func (t *titled) UnmarshalText(text []byte) error {
	*t = titled(text)
	return registry.Known("title", string(text), t.Names())
}
