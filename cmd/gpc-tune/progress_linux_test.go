package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"github.com/gpc-tune/gpc-tune/internal/testing/exhaustive"
	"github.com/gpc-tune/gpc-tune/internal/testing/needs"
)

// pseudoterminal opens both ends of a new terminal.
func pseudoterminal(t *testing.T) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	needs.That(t, err == nil, "pseudoterminals (%v): run it where /dev/ptmx exists", err)
	t.Cleanup(func() { master.Close() })
	fd := int(master.Fd())
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		slave, err = os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { slave.Close() })
	return master, slave
}

// counted matches the beginning of a line of progress.
var counted = regexp.MustCompile(fmt.Sprintf(`\r([0-9]+) of %d jobs`, latticeJobs))

// On a terminal a run shows one line that stays within the width of the terminal, also after the
// terminal was resized.
func TestProgressOnATerminal(t *testing.T) {
	for _, columns := range []int{80, 40, 120}[:exhaustive.Of(1, 3)] {
		t.Run(fmt.Sprint(columns), func(t *testing.T) {
			dir := write(t, "lattice.yaml", lattice)
			t.Setenv(heldIn, dir)
			t.Setenv(heldAfter, "20")
			master, slave := pseudoterminal(t)
			resize := func(columns int) {
				if err := unix.IoctlSetWinsize(int(master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: uint16(columns)}); err != nil {
					t.Fatal(err)
				}
			}
			resize(columns)
			p := &process{Cmd: gpcTune(t, dir, "run", "lattice.yaml", "-o", "run", "-j", "1", "--set", "model.kernel=held")}
			p.Stderr = slave
			var shown transcript
			go func() {
				buffer := make([]byte, 4096)
				for {
					n, err := master.Read(buffer)
					shown.Write(buffer[:n])
					if err != nil {
						return
					}
				}
			}()
			p.begin(t)
			p.until(t, "a job that is held", func() bool { return isHeld(dir, p.Process.Pid) })
			p.until(t, "a line", func() bool {
				return strings.Contains(shown.String(), fmt.Sprintf(" of %d jobs, 0 failed", latticeJobs))
			})
			done := 0 // at most: lines of these jobs may be under way
			journals, _ := filepath.Glob(filepath.Join(dir, "run", "journal", "*.jsonl"))
			for _, name := range journals {
				text, err := os.ReadFile(name)
				if err != nil {
					t.Fatal(err)
				}
				done += strings.Count(string(text), "\n")
			}
			resize(columns / 2)
			release(t, dir)
			if <-p.ended; p.err != nil {
				t.Fatalf("%v\n%s", p.err, shown.String())
			}
			until(t, "the last line", func() bool { return strings.Contains(shown.String(), "results: run") })
			after, _, _ := strings.Cut(shown.String(), "results: run")
			first := slices.IndexFunc(counted.FindAllStringSubmatch(after, -1), func(m []string) bool {
				n, err := strconv.Atoi(m[1])
				return err == nil && n > done
			})
			if first < 0 {
				t.Fatalf("after it was resized nothing is shown: %q", after)
			}
			resized := counted.FindAllStringIndex(after, -1)[first][0]
			screenOf(t, after[:resized], columns)
			after = after[resized:]
			if screenOf(t, "\r"+after, columns/2) != "" {
				t.Errorf("the line is left: %q", after)
			}
		})
	}
}

// A message is broken between words on a terminal, at its width; elsewhere it is one line.
func TestMessagesOnATerminal(t *testing.T) {
	args := []string{"run", "gallery:crabs", "--set", "model.inference=laplase", "-j", "1"}
	var out, whole bytes.Buffer
	if got := run(t.Context(), nil, args, nil, &out, &whole); got != exitInvalid || strings.Count(whole.String(), "\n") != 1 {
		t.Fatalf("%d: %s", got, &whole)
	}
	for _, columns := range []int{40, 80} {
		master, slave := pseudoterminal(t)
		if err := unix.IoctlSetWinsize(int(master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: uint16(columns)}); err != nil {
			t.Fatal(err)
		}
		run(t.Context(), nil, args, nil, &out, slave)
		shown := ""
		for buffer := make([]byte, 4096); !strings.HasSuffix(shown, "\r\n") || strings.Count(shown, "\r\n") < whole.Len()/columns; {
			n, err := master.Read(buffer)
			if shown += string(buffer[:n]); err != nil {
				t.Fatal(err)
			}
		}
		for line := range strings.SplitSeq(shown, "\r\n") {
			if utf8.RuneCountInString(line) > columns {
				t.Errorf("%q has more than %d columns", line, columns)
			}
		}
		if again := strings.ReplaceAll(strings.TrimSuffix(shown, "\r\n"), "\r\n    ", " ") + "\n"; again != whole.String() {
			t.Errorf("%d columns: %q\nof %q", columns, again, &whole)
		}
	}
}
