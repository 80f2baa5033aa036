package journal

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gpc-tune/gpc-tune/record"
)

// controlName is the file of a run folder to which commands for its configurations are appended.
// Their order decides, so it is one file for all processes.
const controlName = "control.jsonl"

// verbs are the commands for a configuration of a run.
var verbs = []string{"drop", "pause", "resume", "first", "enqueue", "dequeue"}

// Command is a line of the control file.
type Command struct {
	Verb string `json:"verb"`
	Key  string `json:"key"` // key of the first study of the configuration
	// Point is a point to try: values of hyperparameters by name, in natural units. Hyperparameters
	// that it does not name have their initial values.
	Point map[string]record.Number `json:"point,omitempty"`
	// Number is the number of a point to withdraw, from 1, in the order of the enqueue commands for
	// the configuration.
	Number int    `json:"number,omitempty"`
	Sum    string `json:"sum,omitempty"`
}

// AppendCommand appends a command to the control file of a run folder. A running process reads it
// before its next job.
func AppendCommand(dir string, c Command) (err error) {
	text, err := json.Marshal(c)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(dir, controlName), os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o666)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	// line end for a line that was cut off, so that the next one is intact
	var before []byte
	last := make([]byte, 1)
	if end, _ := f.Seek(0, io.SeekEnd); end > 0 {
		if _, err := f.ReadAt(last, end-1); err == nil && last[0] != '\n' {
			before = []byte{'\n'}
		}
	}
	if _, err = f.Write(append(before, Seal(text)...)); err == nil {
		err = f.Sync()
	}
	return err
}

// commands has the lines of a control file that have been read.
type commands struct {
	control record.Control
	bytes   int64
}

// read reads the control file of a run folder again if it has grown. configurations has the keys
// that commands refer to. damaged has the numbers of lines without effect.
func (c *commands) read(dir string, configurations []string) (news bool, damaged []int, err error) {
	name := filepath.Join(dir, controlName)
	info, err := os.Stat(name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == c.bytes {
		return false, nil, nil
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return false, nil, err
	}
	*c = commands{bytes: int64(len(text))}
	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		var of Command
		sealed, err := CheckSeal([]byte(line))
		if err != nil || !sealed || json.Unmarshal([]byte(line), &of) != nil || !slices.Contains(verbs, of.Verb) {
			damaged = append(damaged, number)
		} else if k := slices.Index(configurations, of.Key); k >= 0 {
			applyCommand(&c.control, of, k)
		}
	}
	return true, damaged, nil
}

// applyCommand applies a command for configuration k.
func applyCommand(c *record.Control, of Command, k int) {
	without := func(all []int) []int {
		return slices.DeleteFunc(all, func(other int) bool { return other == k })
	}
	with := func(all []int) []int {
		all = append(without(all), k)
		slices.Sort(all)
		return all
	}
	switch of.Verb {
	case "enqueue":
		n := 1
		for _, other := range c.Enqueued {
			if other.Configuration == k {
				n++
			}
		}
		c.Enqueued = append(c.Enqueued, record.Enqueued{Configuration: k, Number: n, Point: of.Point})
	case "dequeue":
		for i, other := range c.Enqueued {
			if other.Configuration == k && other.Number == of.Number {
				c.Enqueued[i].Withdrawn = true
			}
		}
	case "drop":
		c.Dropped = with(c.Dropped)
	case "pause":
		c.Paused = with(c.Paused)
	case "resume":
		c.Dropped, c.Paused = without(c.Dropped), without(c.Paused)
	case "first":
		c.First = append([]int{k}, without(c.First)...)
	}
}
