package job

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/gpc-tune/gpc-tune/experiments/spec"
	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/internal/machine"
)

// Command computes the objective of a program by running its command in a folder.
type Command struct {
	*spec.Program
	Dir string
}

// Check returns an error if there is no such command.
func (c Command) Check() error {
	name := c.Program.Command[0]
	if filepath.Base(name) == name {
		_, err := exec.LookPath(name)
		return err
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(c.Dir, name)
	}
	_, err := os.Stat(name)
	return err
}

// Value runs the command at x, in natural units. What the command fails by is the error.
func (c Command) Value(ctx context.Context, x []float64) (float64, error) {
	within := ctx
	if c.Timeout > 0 {
		var cancel context.CancelFunc
		within, cancel = context.WithTimeout(ctx, c.Timeout)
		defer cancel()
	}
	args := c.Arguments(x)
	run := exec.CommandContext(within, args[0], args[1:]...)
	machine.Apart(run)
	var out, complaints tail
	run.Dir, run.Stdout, run.Stderr, run.WaitDelay = c.Dir, &out, &complaints, time.Second
	if c.Input == "json" {
		run.Stdin = strings.NewReader(c.JSON(x) + "\n")
	}
	switch err := run.Run(); {
	case errors.Is(err, exec.ErrWaitDelay): // it ended well, and left processes that hold its output
		machine.End(run)
	case ctx.Err() != nil:
		return math.NaN(), ctx.Err()
	case within.Err() != nil:
		return math.NaN(), cause.TimedOut.New("timed out after %v", c.Timeout)
	case err != nil:
		text := err.Error()
		if last := complaints.last(); last != "" {
			text += ": " + last
		}
		return math.NaN(), cause.Program.New("%s", text)
	}
	return c.read(out.last())
}

// read is the value in the last line of the output.
func (c Command) read(line string) (float64, error) {
	text := line
	if c.Field != "" {
		var fields map[string]any
		d := json.NewDecoder(strings.NewReader(line))
		d.UseNumber()
		err := d.Decode(&fields)
		if _, end := d.Token(); err != nil || end != io.EOF {
			return math.NaN(), cause.Program.New("the last line of its output is no JSON object: %.100q", line)
		}
		value, found := fields[c.Field]
		if !found {
			return math.NaN(), cause.Program.New("the last line of its output has no field %q: %.100q", c.Field, line)
		}
		text = fmt.Sprint(value)
	}
	value, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	switch {
	case err != nil && !errors.Is(err, strconv.ErrRange):
		what := "the last line of its output"
		if c.Field != "" {
			what = fmt.Sprintf("%q in %s", c.Field, what)
		}
		return math.NaN(), cause.Program.New("%s is no number: %.100q", what, text)
	case math.IsNaN(value) || math.IsInf(value, 0):
		return math.NaN(), cause.NotFinite.New("the objective is %v", value)
	}
	return value, nil
}

// tail keeps the end of an output.
type tail struct{ kept []byte }

// mostKept is the number of bytes that a tail keeps.
const mostKept = 1 << 16

// Write implements io.Writer.
func (t *tail) Write(p []byte) (int, error) {
	if t.kept = append(t.kept, p...); len(t.kept) > 2*mostKept {
		t.kept = bytes.Clone(t.kept[len(t.kept)-mostKept:])
	}
	return len(p), nil
}

// last is the last line that is not empty.
func (t *tail) last() string {
	text := strings.TrimSpace(strings.ToValidUTF8(string(t.kept), "�"))
	return strings.TrimSpace(text[1+strings.LastIndexByte(text, '\n'):])
}
