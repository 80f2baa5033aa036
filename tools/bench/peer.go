//go:build linux

package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// peer is a program in another process, which answers each request, a line, with a line (see
// peers.py).
type peer struct {
	name    string
	process *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
}

// answer is the result of one run of one contender, and what it took.
type answer struct {
	Error       string
	Value       float64
	Out         []float64
	Evaluations int
	CPU, Wall   float64 // seconds
	Peak        float64 // peak of the core just before and after, operations a second
	Bytes       float64 // growth of the resident set to its peak
}

// start runs argv. It removes all variables that control OpenBLAS from the environment and adds
// settings.
func start(name string, settings []string, argv ...string) *peer {
	p := &peer{name: name, process: exec.Command(argv[0], argv[1:]...)}
	p.process.Stderr = os.Stderr
	p.process.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "OPENBLAS_") || strings.HasPrefix(v, "OMP_") || strings.HasPrefix(v, "GOTO_")
	}), settings...)
	p.in = got(p.process.StdinPipe())
	p.out = bufio.NewReader(got(p.process.StdoutPipe()))
	must(p.process.Start())
	return p
}

func (p *peer) stop() {
	p.in.Close()
	p.process.Wait()
}

// ask sends a request and reads the answer into to.
func (p *peer) ask(to any, format string, args ...any) error {
	request := fmt.Sprintf(format, args...)
	if _, err := fmt.Fprintln(p.in, request); err != nil {
		return fmt.Errorf("%s: %w", p.name, err)
	}
	line, err := p.out.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("%s ended at %q: %w", p.name, request, err)
	}
	if err := json.Unmarshal(line, to); err != nil {
		return fmt.Errorf("%s answered %q: %w", p.name, line, err)
	}
	return nil
}

// do asks for an answer and ends the run if there is none.
func (p *peer) do(format string, args ...any) (a answer) {
	must(p.ask(&a, format, args...))
	if a.Error != "" {
		must(fmt.Errorf("%s: %s", p.name, a.Error))
	}
	return a
}

// scripts is the folder of this source file, where the peers' scripts are.
func scripts() string {
	_, file, _, ok := runtime.Caller(0)
	if _, err := os.Stat(file); !ok || err != nil {
		must(errors.New("the scripts of the peers were not found; run it in a checkout, as make bench-peers does"))
	}
	return filepath.Dir(file)
}

// list writes numbers as a request has them.
func list(v []float64) string {
	words := make([]string, len(v))
	for i, x := range v {
		words[i] = fmt.Sprintf("%.17g", x)
	}
	return strings.Join(words, ",")
}

// sklearnTheta is ln σ², ln l … for ln σ, ln l …
func sklearnTheta(free []float64) string {
	theta := slices.Clone(free)
	theta[0] *= 2
	return list(theta)
}
