package main

import (
	"archive/tar"
	"archive/zip"
	"compress/flate"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"path"
	"time"
)

// file is a file of an archive.
type file struct {
	name string // with slashes
	mode fs.FileMode
	text []byte
}

// tarball writes files below a folder as .tar.gz, all with the same time and owner.
func tarball(w io.Writer, folder string, at time.Time, files []file) error {
	compressed, err := gzip.NewWriterLevel(w, flate.BestCompression)
	if err != nil {
		return err
	}
	out := tar.NewWriter(compressed)
	for _, f := range files {
		if err := out.WriteHeader(&tar.Header{Name: path.Join(folder, f.name), Mode: int64(f.mode),
			Size: int64(len(f.text)), ModTime: at, Format: tar.FormatUSTAR}); err != nil {
			return err
		}
		if _, err := out.Write(f.text); err != nil {
			return err
		}
	}
	return errors.Join(out.Close(), compressed.Close())
}

// zipped does the same as a .zip.
func zipped(w io.Writer, folder string, at time.Time, files []file) error {
	out := zip.NewWriter(w)
	for _, f := range files {
		h := &zip.FileHeader{Name: path.Join(folder, f.name), Method: zip.Deflate, Modified: at.UTC()}
		h.SetMode(f.mode)
		to, err := out.CreateHeader(h)
		if err != nil {
			return err
		}
		if _, err := to.Write(f.text); err != nil {
			return err
		}
	}
	return out.Close()
}
