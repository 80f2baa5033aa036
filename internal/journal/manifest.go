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
	"github.com/gpc-tune/gpc-tune/internal/record"
	"github.com/gpc-tune/gpc-tune/internal/strictyaml"
)

const (
	manifestName = "manifest.json"
	// ManifestSchema names the form of a manifest. Two older ones are read too: version 3, which
	// has no table of components, so that their texts are parsed, and version 2, which has no
	// checksum either.
	ManifestSchema = "gpc-tune/manifest/4"
	textsSchema    = "gpc-tune/manifest/3"
	unsealedSchema = "gpc-tune/manifest/2"
)

// Unreadable stands for the key of a manifest that is damaged, as one that WriteManifest is to
// replace.
const Unreadable = "damaged"

// WriteManifest writes dir/manifest.json, making the folder if need be, and stamps its schema and
// its checksum. The file appears whole or not at all. One that is there already is an fs.ErrExist,
// unless its key is replaces: that is kept beside it, as manifest-KEY.json with the first eight
// characters of its key.
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
	if _, err := os.Lstat(name); err != nil { // of several processes that begin at the same time one makes it
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

// StatManifest describes the file dir/manifest.json, so that a later one can be told from it.
func StatManifest(dir string) (os.FileInfo, error) { return os.Stat(filepath.Join(dir, manifestName)) }

// Sealed says whether a line of the journal in dir has a checksum, or there is none that has not.
func Sealed(dir string) (bool, error) {
	j, err := Open(dir, Options{Unprotected: true})
	return err != nil || j.sealed > 0 || j.unsealed == 0, err
}

// ReadManifest reads dir/manifest.json, strictly. A folder without one is an fs.ErrNotExist, one
// that is not as it was written an ErrDamaged. A manifest from before there were checksums is
// Unprotected, and so is the journal beside it.
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
	protected := header.Schema == ManifestSchema || header.Schema == textsSchema
	switch known := protected || header.Schema == unsealedSchema; {
	case !known && strings.HasPrefix(header.Schema, "gpc-tune/manifest/"), sealed && !protected:
		return m, fmt.Errorf("its schema is %q, want %q: it was written by another version of gpc-tune; "+
			"use that version", header.Schema, ManifestSchema)
	case !known:
		return m, fmt.Errorf("%w: not a manifest: its schema is %q, want %q", ErrDamaged, header.Schema, ManifestSchema)
	case !sealed && protected:
		return m, fmt.Errorf("%w: it has lost its checksum", ErrDamaged)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&m); err != nil {
		return m, fmt.Errorf("%w: not a manifest: %w", ErrDamaged, err)
	}
	if !sealed {
		if m.Sum != "" || len(bytes.TrimSpace(text[d.InputOffset():])) > 0 {
			return m, fmt.Errorf("%w: not a manifest: more than one value, or a checksum that is none", ErrDamaged)
		}
		m.Unprotected = true
	}
	m.Sum = ""
	var parse func(string) record.Component
	if header.Schema != ManifestSchema {
		parse = strictyaml.ComponentOf
	}
	m.Link(parse)
	return m, nil
}
