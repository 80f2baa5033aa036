package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"testing"
	"time"
)

var (
	when  = time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC)
	files = []file{{"gpc-tune", 0o755, []byte("program")}, {"man/man1/gpc-tune.1", 0o644, []byte(".TH")}}
)

// An archive has the files with their modes and one time; its bytes do not depend on the time zone.
func TestArchives(t *testing.T) {
	for name, pack := range map[string]func(io.Writer, string, time.Time, []file) error{"tar": tarball, "zip": zipped} {
		var archives [2]bytes.Buffer
		for k, zone := range []*time.Location{time.UTC, time.FixedZone("elsewhere", 7200)} {
			if err := pack(&archives[k], "gpc-tune_v1", when.In(zone), files); err != nil {
				t.Fatal(name, err)
			}
		}
		if !bytes.Equal(archives[0].Bytes(), archives[1].Bytes()) {
			t.Errorf("%s: two archives of the same files differ", name)
		}
		for k, f := range unpacked(t, archives[0].Bytes()) {
			want := files[k]
			want.name = "gpc-tune_v1/" + want.name
			if f.name != want.name || f.mode != want.mode || !bytes.Equal(f.text, want.text) {
				t.Errorf("%s: %+v, want %+v", name, f, want)
			}
		}
	}
}

// unpacked reads the files of an archive of either format.
func unpacked(t *testing.T, archive []byte) (all []file) {
	t.Helper()
	take := func(name string, mode uint32, at time.Time, r io.Reader) {
		text, err := io.ReadAll(r)
		if err != nil || !at.Equal(when) {
			t.Errorf("%s: %v, of %v", name, err, at)
		}
		all = append(all, file{name: name, mode: files[len(all)].mode & 0o777, text: text})
		if got := mode & 0o777; got != uint32(all[len(all)-1].mode) {
			t.Errorf("%s has mode %o", name, got)
		}
	}
	if compressed, err := gzip.NewReader(bytes.NewReader(archive)); err == nil {
		for r := tar.NewReader(compressed); ; {
			h, err := r.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			take(h.Name, uint32(h.Mode), h.ModTime, r)
		}
	} else {
		r, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range r.File {
			content, err := f.Open()
			if err != nil {
				t.Fatal(err)
			}
			take(f.Name, uint32(f.Mode()), f.Modified, content)
		}
	}
	if len(all) != len(files) {
		t.Fatalf("%d files, want %d", len(all), len(files))
	}
	return all
}
