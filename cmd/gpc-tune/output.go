package main

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/gpc-tune/gpc-tune/internal/terminal"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/page"
	"github.com/gpc-tune/gpc-tune/reports/table"
)

// output is standard output or standard error. Names and messages from files may contain sequences
// that move the cursor, rename a window or change the direction of text; in texts these are escaped
// (terminal.Printable), and command lines begin with how the user starts the program
// (terminal.Commands). Tables and pictures for programs are escaped only on a terminal. The first
// error is kept.
type output struct {
	to       io.Writer
	terminal bool
	messages bool   // the texts are messages, whose lines are broken at blanks on a terminal
	rest     []byte // an incomplete UTF-8 character
	err      error
}

func newOutput(to io.Writer) *output {
	f, ok := to.(*os.File)
	return &output{to: to, terminal: ok && term.IsTerminal(int(f.Fd()))}
}

// Write writes text.
func (o *output) Write(text []byte) (int, error) {
	o.rest = append(o.rest, text...)
	whole := len(o.rest)
	for k := 1; k < utf8.UTFMax && k <= whole; k++ { // the last character may be incomplete
		if last := o.rest[whole-k:]; utf8.RuneStart(last[0]) {
			if !utf8.FullRune(last) {
				whole -= k
			}
			break
		}
	}
	_, err := o.plain([]byte(o.shown(string(o.rest[:whole]))))
	o.rest = append(o.rest[:0], o.rest[whole:]...)
	if err != nil {
		return 0, err
	}
	return len(text), nil
}

// shown is a text as it is written.
func (o *output) shown(text string) string {
	text = terminal.Commands(terminal.Printable(text))
	if o.terminal && o.messages {
		text = terminal.Wrap(text, o.width(), "    ")
	}
	return text
}

// plain writes without escaping.
func (o *output) plain(data []byte) (int, error) {
	if len(data) == 0 || o.err != nil {
		return 0, o.err
	}
	var n int
	n, o.err = o.to.Write(data)
	return n, o.err
}

// close writes the rest, and returns the first error.
func (o *output) close() error {
	o.plain([]byte(o.shown(string(o.rest))))
	o.rest = nil
	return o.err
}

type plain struct{ *output }

func (p plain) Write(data []byte) (int, error) { return p.plain(data) }

// forPrograms is the writer for output that programs read.
func forPrograms(c *cobra.Command) io.Writer {
	if o, ok := c.OutOrStdout().(*output); ok && !o.terminal {
		return plain{o}
	}
	return c.OutOrStdout()
}

// inForm is the writer for a format of the result.
func inForm(c *cobra.Command, form string) io.Writer {
	if form == "text" {
		return c.OutOrStdout()
	}
	return forPrograms(c)
}

// width is the number of columns of the terminal, now.
func (o *output) width() int {
	if f, ok := o.to.(*os.File); ok {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
			return width
		}
	}
	return 80
}

// screen has the width and colours of the terminal, or neither.
func screen(c *cobra.Command) (s table.Screen) {
	o, ok := c.OutOrStdout().(*output)
	if !ok || !o.terminal {
		return s
	}
	s.Width = o.width()
	if os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" {
		s.Color = plain{o}
	}
	return s
}

// printReport writes a report in a format; text fits the terminal.
func printReport(c *cobra.Command, form page.Format, r *reports.Report) error {
	if form.Name == page.Formats[0].Name {
		return table.TextOn(c.OutOrStdout(), r, screen(c))
	}
	return form.Render(forPrograms(c), r)
}

// ended returns the error of a command after its output: a command whose result could not be
// written has failed.
func (o *output) ended(err error) error {
	switch failed := o.close(); {
	case failed == nil || err != nil && !errors.Is(err, failed):
		return err
	case errors.Is(failed, syscall.EPIPE): // the reader has closed the pipe
		return exitCode(exitUnexpected)
	default:
		return fmt.Errorf("%w: %w", errOutput, failed)
	}
}

// safeCSVFlag adds the flag --safe-csv to c. The returned function writes the table in the given
// format, as the flag requires.
func safeCSVFlag(c *cobra.Command) func(w io.Writer, form string, write func(io.Writer) error) error {
	safe := c.Flags().Bool("safe-csv", false,
		"put an apostrophe before CSV cells that a spreadsheet would evaluate as formulas; numbers stay unchanged")
	return func(w io.Writer, form string, write func(io.Writer) error) error {
		if !*safe || form != "csv" {
			return write(w)
		}
		var table bytes.Buffer
		if err := write(&table); err != nil {
			return err
		}
		in, out := csv.NewReader(&table), csv.NewWriter(w)
		in.FieldsPerRecord = -1
		for {
			cells, err := in.Read()
			if err == io.EOF {
				break
			}
			if err != nil {
				return err
			}
			for i, cell := range cells {
				if formula(cell) {
					cells[i] = "'" + cell
				}
			}
			out.Write(cells) // errors surface in out.Error
		}
		out.Flush()
		return out.Error()
	}
}

// formula reports whether a spreadsheet might interpret a cell as a formula.
func formula(cell string) bool {
	if !strings.HasPrefix(strings.TrimLeft(cell, " "), "=") &&
		(cell == "" || !strings.ContainsRune("=+-@\t\r\n＝＋－＠", []rune(cell)[0])) {
		return false
	}
	_, err := strconv.ParseFloat(cell, 64)
	return err != nil
}
