//go:build unix

package atomicfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func text(s string) func(io.Writer) error {
	return func(w io.Writer) error { _, err := io.WriteString(w, s); return err }
}

// holds fails the test unless the file has the given text and mode, and its folder the given number of entries.
func holds(t *testing.T, name, want string, mode fs.FileMode, entries int) {
	t.Helper()
	got, err := os.ReadFile(name)
	if err != nil || string(got) != want {
		t.Fatalf("%s holds %q, %v; want %q", name, got, err, want)
	}
	info, err := os.Stat(name)
	if err != nil || info.Mode().Perm() != mode {
		t.Errorf("%s has mode %v, %v; want %v", name, info.Mode(), err, mode)
	}
	found, err := os.ReadDir(filepath.Dir(name))
	if err != nil || len(found) != entries {
		t.Errorf("%v beside %s, %v; want %d entries", found, name, err, entries)
	}
}

func umask(t *testing.T, mask int) {
	old := syscall.Umask(mask)
	t.Cleanup(func() { syscall.Umask(old) })
}

func TestWriteObeysTheUmaskAndKeepsTheModeOfAnOldFile(t *testing.T) {
	for mask, want := range map[int]fs.FileMode{0o022: 0o644, 0o077: 0o600, 0o027: 0o640, 0: 0o666} {
		umask(t, mask)
		name := filepath.Join(t.TempDir(), strings.Repeat("n", 255)) // the longest possible name
		if err := Write(name, text("one")); err != nil {
			t.Fatal(err)
		}
		holds(t, name, "one", want, 1)
		if err := os.Chmod(name, 0o604); err != nil {
			t.Fatal(err)
		}
		if err := Write(name, text("two")); err != nil {
			t.Fatal(err)
		}
		holds(t, name, "two", 0o604, 1)
		other := filepath.Join(t.TempDir(), "new")
		if err := Create(other, text("three")); err != nil {
			t.Fatal(err)
		}
		holds(t, other, "three", want, 1)
	}
}

func TestAFailureLeavesTheOldFile(t *testing.T) {
	umask(t, 0o022)
	failure := errors.New("no")
	name := filepath.Join(t.TempDir(), "file")
	fails := func(w io.Writer) error {
		return errors.Join(text(strings.Repeat("x", 1<<16))(w), failure)
	}
	for _, write := range []func(string, func(io.Writer) error) error{Write, Create} {
		if err := write(name, fails); !errors.Is(err, failure) {
			t.Fatal(err)
		}
		if found, err := os.ReadDir(filepath.Dir(name)); err != nil || len(found) > 0 {
			t.Errorf("%v is left, %v", found, err)
		}
	}
	if err := Write(name, text("old")); err != nil {
		t.Fatal(err)
	}
	if err := Write(name, fails); !errors.Is(err, failure) {
		t.Fatal(err)
	}
	if err := Create(name, text("new")); !errors.Is(err, fs.ErrExist) {
		t.Fatal(err)
	}
	holds(t, name, "old", 0o644, 1)
}

func TestOneOfManyCreates(t *testing.T) {
	name := filepath.Join(t.TempDir(), "file")
	results := make(chan error)
	for range 20 {
		go func() { results <- Create(name, text("whole")) }()
	}
	made := 0
	for range 20 {
		switch err := <-results; {
		case err == nil:
			made++
		case !errors.Is(err, fs.ErrExist):
			t.Error(err)
		}
	}
	if made != 1 {
		t.Errorf("%d have made the file", made)
	}
	if got, err := os.ReadFile(name); err != nil || string(got) != "whole" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestLinksStayAndTheirFilesAreReplaced(t *testing.T) {
	umask(t, 0o022)
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "elsewhere"), 0o755); err != nil {
		t.Fatal(err)
	}
	name, target := filepath.Join(dir, "link"), filepath.Join(dir, "elsewhere", "file")
	if err := os.Symlink(filepath.Join("elsewhere", "file"), name); err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{"dangling", "again"} {
		if err := Write(name, text(s)); err != nil {
			t.Fatal(err)
		}
		holds(t, target, s, 0o644, 1)
		if info, err := os.Lstat(name); err != nil || info.Mode().Type() != fs.ModeSymlink {
			t.Errorf("%v, %v: no link any more", info, err)
		}
	}
	around := filepath.Join(dir, "around")
	if err := os.Symlink("around", around); err != nil {
		t.Fatal(err)
	}
	if err := Write(around, text("")); err == nil {
		t.Error("a link to itself was written to")
	}
}

// As many links in a row are followed as the system itself follows.
func TestAllLinksAreFollowed(t *testing.T) {
	dir := t.TempDir()
	target, followed := filepath.Join(dir, "0"), 0
	if err := Write(target, text("old")); err != nil {
		t.Fatal(err)
	}
	for i := 1; ; i++ {
		name := filepath.Join(dir, fmt.Sprint(i))
		if err := os.Symlink(filepath.Join(dir, fmt.Sprint(i-1)), name); err != nil {
			t.Fatal(err)
		}
		_, refused := os.Stat(name)
		err := Write(name, text(name))
		if (err == nil) != (refused == nil) {
			t.Fatalf("%d links: %v, though the system says %v", i, err, refused)
		}
		if refused != nil {
			break
		}
		if got, err := os.ReadFile(target); err != nil || string(got) != name {
			t.Fatalf("%d links: %q, %v", i, got, err)
		}
		followed++
	}
	if followed < 8 { // what POSIX guarantees
		t.Errorf("%d links were followed", followed)
	}
}

// An open pipe has a name, in a folder that takes no files: no temporary file may be needed there.
func TestAnOpenPipeIsWrittenTo(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	name := fmt.Sprintf("/dev/fd/%d", w.Fd())
	if err := Check(name); err != nil {
		t.Error(err)
	}
	if err := Write(name, text("through")); err != nil {
		t.Error(err)
	}
	w.Close()
	if got, err := io.ReadAll(r); err != nil || string(got) != "through" {
		t.Errorf("%q came through, %v", got, err)
	}
}

// After any write no file is still open, and none is still registered as a temporary one.
func TestNothingStaysOpen(t *testing.T) {
	next := func() uintptr { // the number of the next file to be opened
		f, err := os.Open(os.DevNull)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		return f.Fd()
	}
	failure := errors.New("no")
	name := filepath.Join(t.TempDir(), "file")
	before := next()
	for i, err := range []error{
		Create(name, text("a")), Write(name, text("b")), Check(name), Write(os.DevNull, text("c")),
		Write(name, func(io.Writer) error { return failure }),
	} {
		if err != nil && !errors.Is(err, failure) {
			t.Errorf("%d: %v", i, err)
		}
	}
	if after := next(); after != before {
		t.Errorf("the next file is number %d, before it was %d", after, before)
	}
	if len(open.names) > 0 {
		t.Errorf("%v is noted", open.names)
	}
}

func TestDevicesAndPipesAreWrittenTo(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Check(name); err != nil {
		t.Error(err)
	}
	got := make(chan string)
	go func() {
		text, _ := os.ReadFile(name)
		got <- string(text)
	}()
	if err := Write(name, text("through")); err != nil {
		t.Fatal(err)
	}
	if s := <-got; s != "through" {
		t.Errorf("%q came through", s)
	}
	if info, err := os.Stat(name); err != nil || info.Mode().Type() != fs.ModeNamedPipe {
		t.Errorf("%v, %v: no FIFO any more", info, err)
	}
	if err := Write(os.DevNull, text("x")); err != nil {
		t.Error(err)
	}
	for _, write := range []func() error{func() error { return Write(dir, text("x")) }, func() error { return Check(dir) }} {
		if err := write(); err == nil {
			t.Error("a folder was written to")
		}
	}
}

func TestWhatCannotBeWrittenIsToldBefore(t *testing.T) {
	dir := t.TempDir()
	absent := filepath.Join(dir, "absent", "file")
	for _, err := range []error{Check(absent), Write(absent, text("x")), Create(absent, text("x"))} {
		if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), absent) || strings.Contains(err.Error(), Prefix) {
			t.Error(err)
		}
	}
	long := filepath.Join(dir, strings.Repeat("n", 256))
	for _, err := range []error{Check(long), Write(long, text("x")), Create(long, text("x"))} {
		if !errors.Is(err, syscall.ENAMETOOLONG) {
			t.Errorf("a name that is too long: %v", err)
		}
	}
	name := filepath.Join(dir, "file")
	if err := Check(name); err != nil {
		t.Error(err)
	}
	if found, _ := os.ReadDir(dir); len(found) > 0 {
		t.Errorf("%v is left", found)
	}
	if os.Geteuid() == 0 {
		return // root may write everywhere
	}
	if err := os.WriteFile(name, []byte("kept"), 0o400); err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{Check(name), Write(name, text("x"))} {
		if !errors.Is(err, fs.ErrPermission) {
			t.Error(err)
		}
	}
}

func TestAbandonLeavesNothing(t *testing.T) {
	defer func() { open.ended = false }()
	dir := t.TempDir()
	err := Write(filepath.Join(dir, "file"), func(w io.Writer) error {
		if found, _ := os.ReadDir(dir); len(found) != 1 || !strings.HasPrefix(found[0].Name(), Prefix) || !strings.HasSuffix(found[0].Name(), suffix) {
			t.Errorf("%v is being written", found)
		}
		Abandon()
		return nil
	})
	if err == nil {
		t.Error("what was abandoned was written")
	}
	if err := Write(filepath.Join(dir, "file"), text("x")); err == nil {
		t.Error("written after the end")
	}
	if found, _ := os.ReadDir(dir); len(found) > 0 {
		t.Errorf("%v is left", found)
	}
}
