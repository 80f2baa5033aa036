package job

import (
	"bytes"
	"maps"
	"math"
	"strconv"
	"strings"
	"sync"

	"github.com/gpc-tune/gpc-tune/search/schedule"
)

// messagePrefix begins the lines of a program's standard output that are meant for gpc-tune.
const messagePrefix = "gpc-tune: "

// message splits a line "gpc-tune: STEP VALUE".
func message(line string) (step, value string, is bool) {
	rest, is := strings.CutPrefix(line, messagePrefix)
	fields := strings.Fields(rest)
	if !is || len(fields) != 2 {
		return "", "", false
	}
	return fields[0], fields[1], true
}

// messages reads the values on the way in a program's standard output.
type messages struct {
	of   *schedule.Evaluation
	stop func() // tells the program to stop
	line []byte // the beginning of a line

	mu     sync.Mutex
	values map[string]float64 // the last value of each name
}

// named are the values of lines "gpc-tune: NAME VALUE".
func (m *messages) named() map[string]float64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.values)
}

// longestMessage is the number of bytes of a line that messages keeps.
const longestMessage = 1024

// Write implements io.Writer.
func (m *messages) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		end := bytes.IndexByte(rest, '\n')
		if end < 0 {
			m.line = append(m.line, rest[:min(len(rest), max(0, longestMessage-len(m.line)))]...)
			break
		}
		m.read(string(append(m.line, rest[:min(end, longestMessage)]...)))
		m.line, rest = m.line[:0], rest[end+1:]
	}
	return len(p), nil
}

// read reports the value of a line, if it has one.
func (m *messages) read(line string) {
	first, second, is := message(strings.TrimSpace(line))
	step, noStep := strconv.ParseFloat(first, 64)
	value, noValue := strconv.ParseFloat(second, 64)
	if is && noStep != nil && noValue == nil {
		m.mu.Lock()
		defer m.mu.Unlock()
		if m.values == nil {
			m.values = map[string]float64{}
		}
		m.values[first] = value
	}
	if noValue != nil {
		value = math.NaN() // Report counts it
	}
	if is && noStep == nil && m.of.Report(step, value) {
		m.stop()
	}
}
