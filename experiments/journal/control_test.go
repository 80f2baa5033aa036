package journal

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/record"
)

// Commands count in their order: drop, pause and first until resume or a later first, each
// configuration once. Those for configurations that the plan does not have are passed over.
func TestCommandsAmountTo(t *testing.T) {
	for commands, want := range map[string]record.Control{
		"":                           {},
		"drop c, drop a, drop b":     {Dropped: []int{0, 1, 2}},
		"drop b, drop b":             {Dropped: []int{1}},
		"pause c, pause a, pause c":  {Paused: []int{0, 2}},
		"drop a, pause a, pause b":   {Dropped: []int{0}, Paused: []int{0, 1}},
		"drop a, pause a, resume a":  {},
		"drop a, drop b, resume a":   {Dropped: []int{1}},
		"pause a, pause b, resume b": {Paused: []int{0}},
		"resume a, drop a":           {Dropped: []int{0}},
		"first a, first c":           {First: []int{2, 0}},
		"first a, first c, first a":  {First: []int{0, 2}},
		"first b, resume b":          {First: []int{1}},
		"drop d, first d, pause d":   {},
		"drop a, first b, pause c":   {Dropped: []int{0}, Paused: []int{2}, First: []int{1}},
	} {
		dir := t.TempDir()
		for command := range strings.SplitSeq(commands, ", ") {
			if verb, key, _ := strings.Cut(command, " "); verb != "" {
				if err := AppendCommand(dir, Command{Verb: verb, Key: key}); err != nil {
					t.Fatal(err)
				}
			}
		}
		j, err := Open(dir, Options{Configurations: []string{"a", "b", "c"}})
		if err != nil {
			t.Fatal(err)
		}
		got := j.Control()
		for _, all := range []*[]int{&got.Dropped, &got.Paused, &got.First} {
			if len(*all) == 0 {
				*all = nil
			}
		}
		if !reflect.DeepEqual(got, want) || len(j.Damaged()) > 0 {
			t.Errorf("%s: %+v, damaged %v, want %+v", commands, got, j.Damaged(), want)
		}
	}
}

// A journal learns of commands that are given while it is open, once each. What is no command has
// no effect and is named by its place, unless it was just being written.
func TestCommandsAreReadAgain(t *testing.T) {
	dir := t.TempDir()
	j, err := Open(dir, Options{Configurations: []string{"a", "b"}})
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, controlName)
	look := func(news bool, dropped int, damaged ...string) {
		t.Helper()
		got, err := j.Refresh()
		if err != nil || got != news || len(j.Control().Dropped) != dropped {
			t.Errorf("news is %v, want %v; %+v; error %v", got, news, j.Control(), err)
		}
		for k := range damaged {
			damaged[k] = name + ":" + damaged[k]
		}
		if list := strings.Join(j.Damaged(), "\n"); len(j.Damaged()) != len(damaged) ||
			len(damaged) > 0 && !strings.HasPrefix(list, strings.Join(damaged, "\n")) {
			t.Errorf("damaged: %s, want %q", list, damaged)
		}
	}
	look(false, 0)
	order := func(key string) {
		t.Helper()
		if err := AppendCommand(dir, Command{Verb: "drop", Key: key}); err != nil {
			t.Fatal(err)
		}
	}
	order("a")
	look(true, 1)
	look(false, 1)
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	line := string(text)
	other := strings.Replace(string(Seal([]byte(`{"verb":"drop","key":"b"}`))), "\n", "", 1)
	write(line + other[:len(other)-2])
	look(true, 1, "2: not a command")
	write(line + other + "\n")
	look(true, 2)
	write(line + strings.Replace(other, `"b"`, `"c"`, 1) + "\n" + `{"verb":"drop","key":"b"}` + "\n" +
		string(Seal([]byte(`{"verb":"stop","key":"b"}`))) + string(Seal([]byte(`{"verb":1,"key":"b"}`))))
	got, err := j.Refresh()
	if err != nil || !got || len(j.Control().Dropped) != 1 || len(j.Damaged()) != 4 {
		t.Errorf("changed, without a checksum, of an unknown verb, no text: %+v, damaged %q, error %v", j.Control(), j.Damaged(), err)
	}
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(name, 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := j.Refresh(); err == nil {
		t.Error("a folder in the place of the file is read")
	}
	if err := AppendCommand(dir, Command{Verb: "drop", Key: "a"}); err == nil {
		t.Error("a folder in the place of the file is written to")
	}
}

// Points count by configuration. One that is withdrawn keeps its number.
func TestPointsAmountTo(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []Command{{Verb: "enqueue", Key: "a"}, {Verb: "enqueue", Key: "b"}, {Verb: "enqueue", Key: "a"}, {Verb: "enqueue", Key: "none"},
		{Verb: "dequeue", Key: "a", Number: 2}, {Verb: "dequeue", Key: "b", Number: 2}, {Verb: "dequeue", Key: "b"}} {
		if err := AppendCommand(dir, c); err != nil {
			t.Fatal(err)
		}
	}
	j, err := Open(dir, Options{Configurations: []string{"a", "b"}})
	if err != nil {
		t.Fatal(err)
	}
	got := j.Control()
	want := []record.Enqueued{{Configuration: 0, Number: 1}, {Configuration: 1, Number: 1}, {Configuration: 0, Number: 2, Withdrawn: true}}
	if !reflect.DeepEqual(got.Enqueued, want) || !got.Withdrawn(0, 2) || got.Withdrawn(0, 1) || got.Withdrawn(1, 2) || len(j.Damaged()) > 0 {
		t.Errorf("%+v, want %+v", got.Enqueued, want)
	}
	if other := (record.Control{Enqueued: slices.Clone(want)}); !got.SamePoints(other) {
		t.Error("the same points are others")
	} else if other.Enqueued[0].Withdrawn = true; got.SamePoints(other) || got.SamePoints(record.Control{Enqueued: want[:2]}) {
		t.Error("other points are the same")
	}
}
