package job

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/gpc-tune/gpc-tune/experiments/spec"
	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/internal/machine"
	"github.com/gpc-tune/gpc-tune/search/schedule"
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

// Value runs the command at x, in natural units. What the command fails by is the error. At the end
// of ctx and of the time limit the command has a time of grace to end by itself.
func (c Command) Value(ctx context.Context, x []float64) (float64, error) {
	of := schedule.EvaluationOf(ctx)
	within, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	if c.Timeout > 0 {
		var cancel context.CancelFunc
		within, cancel = context.WithTimeout(within, c.Timeout)
		defer cancel()
	}
	args := c.Arguments(x)
	run := exec.CommandContext(within, args[0], args[1:]...)
	out, complaints, kept := outputs(of)
	defer kept()
	said := &messages{of: of, stop: func() { stop(schedule.ErrEarly) }}
	run.Dir, run.Stdout, run.Stderr, run.WaitDelay = c.Dir, io.MultiWriter(out, said), complaints, time.Second
	run.Env = append(os.Environ(), environment(of)...)
	if c.Input == "json" {
		run.Stdin = strings.NewReader(c.JSON(x) + "\n")
	}
	runtime.LockOSThread() // the program would die with its thread
	defer runtime.UnlockOSThread()
	machine.Supervise(run, c.Grace)
	switch err := run.Run(); {
	case ctx.Err() != nil:
		return math.NaN(), ctx.Err()
	case errors.Is(err, exec.ErrWaitDelay) && within.Err() == nil: // it ended well, and left processes
		machine.End(run)
	case errors.Is(context.Cause(within), schedule.ErrEarly):
		return math.NaN(), schedule.ErrEarly // the trial has its last value on the way
	case within.Err() != nil:
		return math.NaN(), cause.TimedOut.New("timed out after %v", c.Timeout)
	case err != nil:
		text := err.Error()
		if last := complaints.last(); last != "" {
			text += ": " + last
		}
		return math.NaN(), cause.Program.New("%s", text)
	}
	return c.read(out.last(), of, said.named())
}

// environment returns the assignments that describe a trial to its program.
func environment(of *schedule.Evaluation) []string {
	all := []string{"GPC_TUNE_TRIAL=" + strconv.Itoa(of.Trial), "GPC_TUNE_SEED=" + strconv.FormatUint(of.Seed, 10),
		"GPC_TUNE_SLOT=" + strconv.Itoa(of.Slot), machine.Parent()}
	if of.Folder != "" {
		all = append(all, spec.FolderVariable+"="+of.Folder)
	}
	if !math.IsNaN(of.Budget) {
		all = append(all, "GPC_TUNE_BUDGET="+strconv.FormatFloat(of.Budget, 'g', -1, 64))
	}
	return all
}

// read is the value in the output: the last line, a field of it, or a value that the program has
// named. Other named values go to the evaluation.
func (c Command) read(line string, of *schedule.Evaluation, said map[string]float64) (float64, error) {
	if c.Field == "" && len(c.Bounds) == 0 {
		if _, value, is := message(line); is {
			line = value
		}
		return number("the last line of its output", line)
	}
	var fields map[string]any
	notObject := decodeObject(line, &fields)
	value := math.NaN()
	names := append([]string{c.Field}, c.Objectives...)
	for _, r := range c.Bounds {
		names = append(names, r.Name)
	}
	for _, name := range names {
		v, found := said[name]
		switch written, field := fields[name]; {
		case found:
		case name == "": // the whole line is the value
			var err error
			if v, err = number("the last line of its output", line); err != nil {
				return v, err
			}
		case notObject != nil:
			return value, cause.Program.New("the last line of its output is no JSON object: %.100q", line)
		case field:
			var err error
			what := fmt.Sprintf("%q in the last line of its output", name)
			if text := fmt.Sprint(written); written == nil {
				return value, cause.NotFinite.New("%s is null", what)
			} else if v, err = number(what, text); err != nil {
				return v, err
			}
		default:
			return value, cause.Program.New("the last line of its output has no field %q: %.100q", name, line)
		}
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return value, cause.NotFinite.New("the value %q is %v", name, v)
		}
		if name == c.Field {
			value = v
		}
		if name != "" && (len(c.Objectives) > 0 || len(c.Bounds) > 0) {
			of.Set(name, v)
		}
	}
	return value, nil
}

// decodeObject reads a line that is a JSON object. Python writes NaN and Infinity, which JSON
// lacks; they become texts.
func decodeObject(line string, fields *map[string]any) error {
	if !json.Valid([]byte(line)) {
		line = strings.NewReplacer(":NaN", `:"NaN"`, ": NaN", `:"NaN"`, ":Infinity", `:"Inf"`, ": Infinity", `:"Inf"`,
			":-Infinity", `:"-Inf"`, ": -Infinity", `:"-Inf"`).Replace(line)
	}
	d := json.NewDecoder(strings.NewReader(line))
	d.UseNumber()
	err := d.Decode(fields)
	if _, end := d.Token(); err == nil && end != io.EOF {
		err = errors.New("more than an object")
	}
	return err
}

// number reads a finite number.
func number(what, text string) (float64, error) {
	value, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	switch {
	case err != nil && !errors.Is(err, strconv.ErrRange):
		return math.NaN(), cause.Program.New("%s is no number: %.100q", what, text)
	case math.IsNaN(value) || math.IsInf(value, 0):
		return math.NaN(), cause.NotFinite.New("%s is %v", what, value)
	}
	return value, nil
}
