// Package atomicfile writes files that are whole or absent, whatever ends the process meanwhile.
package atomicfile

import (
	"bufio"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
)

// Write replaces the file name by what write writes, so that whoever reads it sees the old file or the new one, whole, also
// after a crash of the system. A new file has the mode that the umask leaves of 0666, like that of a shell's redirection;
// an old one keeps its mode, and one that may not be written to is not replaced. A link stays, and the file that it names
// is replaced. What is no regular file (a device, a FIFO) is written to as it is. An error leaves the old file, and
// nothing else.
func Write(name string, write func(io.Writer) error) error {
	target, old, err := resolve(name)
	switch {
	case err != nil:
		return err
	case old != nil && !old.Mode().IsRegular():
		f, err := os.OpenFile(name, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		return errors.Join(write(f), f.Close())
	}
	return place(target, write, func(temporary *os.File) error {
		if old != nil {
			if err := temporary.Chmod(old.Mode().Perm()); err != nil {
				return err
			}
		}
		return os.Rename(temporary.Name(), target)
	})
}

// Create is Write for a file that must not be there yet: otherwise the error is an fs.ErrExist, also if another process has
// been faster.
func Create(name string, write func(io.Writer) error) error {
	if _, err := os.Lstat(name); err == nil {
		return &fs.PathError{Op: "create", Path: name, Err: fs.ErrExist}
	}
	return place(name, write, func(temporary *os.File) error {
		err := os.Link(temporary.Name(), name)
		if err == nil || errors.Is(err, fs.ErrExist) {
			return err
		}
		if _, there := os.Lstat(name); there == nil { // a file system without links
			return &fs.PathError{Op: "create", Path: name, Err: fs.ErrExist}
		}
		return os.Rename(temporary.Name(), name)
	})
}

// Check tells before the work whether Write could write the file name after it. It leaves nothing.
func Check(name string) error {
	target, old, err := resolve(name)
	switch {
	case err != nil:
		return err
	case old != nil && old.IsDir():
		return &fs.PathError{Op: "write", Path: name, Err: errors.New("it is a folder")}
	case old != nil && !old.Mode().IsRegular():
		return nil // opening a FIFO waits for its reader
	}
	return place(target, func(io.Writer) error { return nil }, func(*os.File) error { return nil })
}

// resolve returns the file that name leads to through links, and what there is of it: nil if nothing. What is not a regular
// file is not followed, and neither is a link to what has no name any more, as /dev/stdout may be.
func resolve(name string) (target string, old fs.FileInfo, err error) {
	old, err = os.Stat(name)
	if err == nil && !old.Mode().IsRegular() {
		return name, old, nil
	}
	if err == nil { // that it may be written to
		f, err := os.OpenFile(name, os.O_WRONLY, 0)
		if err != nil {
			return "", nil, err
		}
		f.Close()
	} else if !errors.Is(err, fs.ErrNotExist) {
		return "", nil, err
	}
	target = name
	for range 40 { // so many links does a system follow
		to, err := os.Readlink(target)
		if err != nil {
			return target, old, nil
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(target), to)
		}
		target = to
	}
	return "", nil, &fs.PathError{Op: "write", Path: name, Err: errors.New("too many links")}
}

// place writes a file beside target and, once it is on disk, has it put in its place.
func place(target string, write func(io.Writer) error, put func(temporary *os.File) error) (err error) {
	dir := filepath.Dir(target)
	f, err := create(dir)
	defer func() { // tell of the file that is meant
		if told := (*fs.PathError)(nil); errors.As(err, &told) && strings.HasPrefix(filepath.Base(told.Path), Prefix) {
			told.Op, told.Path = "write", target
		}
	}()
	if err != nil {
		return err
	}
	defer func() { remove(f.Name()) }() // nothing is there once the file has been renamed
	buffered := bufio.NewWriter(f)
	if err = write(buffered); err == nil {
		err = buffered.Flush()
	}
	if err == nil {
		err = f.Sync()
	}
	if err == nil {
		err = put(f)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if d, err := os.Open(dir); err == nil { // where folders cannot be synced, the name is on disk a little later
		_ = d.Sync()
		d.Close()
	}
	return nil
}

// Remedy says what to do about a file that could not be written; "" if err does not tell.
func Remedy(err error) string {
	for _, of := range []struct {
		causes []error
		remedy string
	}{
		{[]error{syscall.ENOSPC}, "make room on the disk"},
		{[]error{syscall.EDQUOT}, "make room in the quota"},
		{[]error{syscall.EFBIG}, "raise the limit on file sizes (ulimit -f)"},
		{[]error{syscall.EMFILE, syscall.ENFILE}, "too many files are open at a time: raise that limit (ulimit -n), or run fewer programs"},
		{[]error{syscall.EROFS}, "the file system is read-only: choose another folder"},
		{[]error{fs.ErrPermission}, "change the permissions, or choose another folder"},
	} {
		for _, cause := range of.causes {
			if errors.Is(err, cause) {
				return of.remedy
			}
		}
	}
	return ""
}

// Prefix and Suffix are those of the names of files that are being written. After a SIGKILL or a crash such a file may stay;
// it is nobody's, and may be deleted.
const (
	Prefix = ".gpc-tune-"
	Suffix = ".tmp"
)

// open are the files that are being written.
var open struct {
	sync.Mutex
	names map[string]bool
	ended bool // Abandon has been called: nothing is created any more
}

func create(dir string) (*os.File, error) {
	open.Lock()
	defer open.Unlock()
	if open.ended {
		return nil, fs.ErrClosed
	}
	for {
		name := filepath.Join(dir, Prefix+rand.Text()+Suffix)
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err == nil {
			if open.names == nil {
				open.names = map[string]bool{}
			}
			open.names[name] = true
		}
		return f, err
	}
}

func remove(name string) {
	os.Remove(name)
	open.Lock()
	defer open.Unlock()
	delete(open.names, name)
}

// Abandon deletes the files that are being written, for a process that is about to end: no other is begun.
func Abandon() {
	open.Lock()
	defer open.Unlock()
	open.ended = true
	for name := range open.names {
		os.Remove(name)
	}
}
