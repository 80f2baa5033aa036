//go:build unix

package data

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/gpc-tune/gpc-tune/experiments/data/tables"
	"github.com/gpc-tune/gpc-tune/internal/testing/needs"
)

// Reading a folder never waits for pipes or the like: an entry that is no file is refused by its
// name.
func TestFolderWithPipes(t *testing.T) {
	for kind, make := range map[string]func(path string) error{
		"a pipe": func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"a socket": func(path string) error {
			l, err := net.Listen("unix", path)
			if err == nil {
				t.Cleanup(func() { l.Close() })
			}
			return err
		},
		"a device": func(path string) error { return os.Symlink("/dev/zero", path) },
		"a folder": func(path string) error { return os.Mkdir(path, 0o700) },
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "a.csv"), []byte(small), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := make(filepath.Join(dir, "z")); err != nil {
			t.Logf("%s: %v", kind, err)
			continue
		}
		_, err := Load(Spec{Train: dir}, "", 1)
		if err == nil || !strings.Contains(err.Error(), "has z in it, which is "+kind) {
			t.Errorf("%s: %v", kind, err)
		}
		if err := tables.Scan(dir, func(tables.Layout) {}, func([]string) {}); err == nil {
			t.Errorf("%s is scanned", kind)
		}
	}
}

// Cases to predict come from a pipe too, which is read once. The data of a study are a file.
func TestPipes(t *testing.T) {
	train, err := load(t, Spec{}, small, "")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "fifo")
	err = syscall.Mkfifo(path, 0o600)
	needs.That(t, err == nil, "named pipes (%v): run it with a TMPDIR whose file system has them", err)
	write := func(content string) {
		go func() { _ = os.WriteFile(path, []byte(content), 0o600) }()
	}
	for format, content := range map[string]string{"CSV": small, "gzip": zipped(small), "JSON": asJSON([]string{"a", "b", "c"},
		[][]string{{"1", "0.5", "x"}, {"2", "1.5", "y"}, {"3", "-2", "x"}, {"4", "8.25", "y"}}),
		"Parquet": checksummed(t)["Parquet, new pages"], "xlsx": checksummed(t)["xlsx"], "windows-1252": strings.ReplaceAll(small, "x", "\xe9")} {
		write(content)
		d, err := train.Schema.Read(path)
		if err != nil || len(d.Rows) != 4 {
			t.Errorf("%s: %+v, %v", format, d, err)
		}
		write(content)
		n := 0
		if err := train.Schema.Stream(path, nil, 3, func(d *Data) error { n += len(d.Rows); return nil }); err != nil || n != 4 {
			t.Errorf("%s: streamed %d, %v", format, n, err)
		}
	}
	for _, s := range []Spec{{Train: path}, {Train: file(t, "f.csv", small), Test: path}} {
		if _, err := Load(s, "", 1); err == nil || !strings.Contains(err.Error(), "is a pipe, which can be read once") {
			t.Error(err)
		}
	}
	if err := tables.Scan(path, func(tables.Layout) {}, func([]string) {}); err == nil || !strings.Contains(err.Error(), "cat "+path+" > data.csv") {
		t.Error(err)
	}
}
