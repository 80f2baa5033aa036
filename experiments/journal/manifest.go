package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/gpc-tune/gpc-tune/internal/atomicfile"
	"github.com/gpc-tune/gpc-tune/record"
)

const (
	manifestName   = "manifest.json"
	ManifestSchema = "gpc-tune/manifest/5" // the only form that is read
)

// Unreadable, as the argument replaces of WriteManifest, stands for the key of a damaged manifest.
const Unreadable = "damaged"

// WriteManifest writes dir/manifest.json, creating the folder if necessary, with its schema and
// checksum. The file appears completely or not at all. An existing manifest is an fs.ErrExist,
// unless its key is replaces: then it is kept as manifest-KEY.json, with the first eight characters
// of its key.
func WriteManifest(dir string, m record.Manifest, replaces string) error {
	m.Schema = ManifestSchema
	m.List()
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	if err := writeManifest(dir, Seal(text), replaces); !errors.Is(err, fs.ErrExist) {
		return writing(err)
	}
	return &fs.PathError{Op: "write", Path: filepath.Join(dir, manifestName), Err: fs.ErrExist}
}

func writeManifest(dir string, text []byte, replaces string) error {
	copyOf := func(text []byte) func(io.Writer) error {
		return func(w io.Writer) error { _, err := w.Write(text); return err }
	}
	name := filepath.Join(dir, manifestName)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	if _, err := os.Lstat(name); err != nil { // if several processes start, one creates it
		return atomicfile.Create(name, copyOf(text))
	}
	old, err := ReadManifest(dir)
	if errors.Is(err, ErrDamaged) {
		old.Key, err = Unreadable, nil
	}
	if err != nil || replaces == "" || old.Key != replaces {
		return fs.ErrExist
	}
	kept, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	beside := filepath.Join(dir, fmt.Sprintf("manifest-%.8s.json", old.Key))
	if err := atomicfile.Write(beside, copyOf(kept)); err != nil {
		return err
	}
	return atomicfile.Write(name, copyOf(text))
}

// StatManifest describes the file dir/manifest.json, so that a change can be detected.
func StatManifest(dir string) (os.FileInfo, error) { return os.Stat(filepath.Join(dir, manifestName)) }

// ReadManifest reads dir/manifest.json, strictly. If there is none, the error is fs.ErrNotExist; if
// it is damaged, ErrDamaged.
func ReadManifest(dir string) (record.Manifest, error) {
	name := filepath.Join(dir, manifestName)
	text, err := os.ReadFile(name)
	if err != nil {
		return record.Manifest{}, err
	}
	m, err := decodeManifest(text)
	if err != nil {
		err = fmt.Errorf("%s: %w", name, err)
	}
	return m, err
}

func decodeManifest(text []byte) (m record.Manifest, err error) {
	sealed, err := CheckSeal(text)
	if err != nil {
		return m, err
	}
	var header struct{ Schema string }
	if err := json.Unmarshal(text, &header); err != nil {
		return m, fmt.Errorf("%w: not a manifest: %w", ErrDamaged, err)
	}
	switch known := header.Schema == ManifestSchema; {
	case !known && strings.HasPrefix(header.Schema, "gpc-tune/manifest/"):
		return m, fmt.Errorf("its schema is %q, want %q: it was written by another version of gpc-tune; "+
			"use that version", header.Schema, ManifestSchema)
	case !known:
		return m, fmt.Errorf("%w: not a manifest: its schema is %q, want %q", ErrDamaged, header.Schema, ManifestSchema)
	case !sealed:
		return m, fmt.Errorf("%w: it has lost its checksum", ErrDamaged)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&m); err != nil {
		return m, fmt.Errorf("%w: not a manifest: %w", ErrDamaged, err)
	}
	m.Sum = ""
	m.Link(nil)
	return m, nil
}
