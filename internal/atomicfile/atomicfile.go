// Package atomicfile writes files completely or not at all, however the process ends.
package atomicfile

import (
	"bufio"
	"cmp"
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

// Write replaces the file name by the output of write. Readers see the complete old or the complete
// new file, also after a system crash. A new file has mode 0666 reduced by the umask; an existing
// file keeps its mode, and is not replaced if it is not writable. A symbolic link stays, and its
// target is replaced. A device or a FIFO is written directly. After an error only the old file
// remains.
func Write(name string, write func(io.Writer) error) error {
	target, old, err := resolve(name)
	if err != nil {
		return err
	}
	if old != nil && !old.Mode().IsRegular() {
		f, err := os.OpenFile(name, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		return errors.Join(write(f), f.Close())
	}
	return replace(target, write, func(temporary *os.File) error {
		if old != nil {
			if err := temporary.Chmod(old.Mode().Perm()); err != nil {
				return err
			}
		}
		return os.Rename(temporary.Name(), target)
	})
}

// Create is Write for a file that must not exist yet: otherwise the error is an fs.ErrExist, also
// if another process creates it first.
func Create(name string, write func(io.Writer) error) error {
	exists := func() error {
		if _, err := os.Lstat(name); err != nil {
			return nil
		}
		return &fs.PathError{Op: "create", Path: name, Err: fs.ErrExist}
	}
	if err := exists(); err != nil {
		return err
	}
	return replace(name, write, func(temporary *os.File) error {
		err := os.Link(temporary.Name(), name)
		if err == nil || errors.Is(err, fs.ErrExist) {
			return err
		}
		if err := exists(); err != nil {
			return err
		}
		return os.Rename(temporary.Name(), name) // the file system has no hard links
	})
}

// Check checks in advance whether Write could write the file name. It leaves no files.
func Check(name string) error {
	target, old, err := resolve(name)
	if err != nil || old != nil && !old.Mode().IsRegular() { // opening a FIFO would wait for its reader
		return err
	}
	return replace(target, func(io.Writer) error { return nil }, func(*os.File) error { return nil })
}

// resolve follows links from name to a regular file, which must be writable, or to a name without a
// file: then old is nil. It does not follow links to other kinds of files, or to deleted files, as
// /dev/stdout may be.
func resolve(name string) (target string, old fs.FileInfo, err error) {
	old, err = os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return "", nil, err
	case old.IsDir():
		return "", nil, &fs.PathError{Op: "write", Path: name, Err: errors.New("it is a folder")}
	case !old.Mode().IsRegular():
		return name, old, nil
	default:
		f, err := os.OpenFile(name, os.O_WRONLY, 0)
		if err != nil {
			return "", nil, err
		}
		f.Close()
	}
	target = name
	for { // ends, because the system has followed the links to their end
		to, err := os.Readlink(target)
		if err != nil {
			return target, old, nil
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(target), to)
		}
		target = to
	}
}

// replace writes a temporary file in the folder of target. Once the file is on disk, replace calls
// put to move it to target.
func replace(target string, write func(io.Writer) error, put func(temporary *os.File) error) (err error) {
	dir := filepath.Dir(target)
	defer func() { // errors should name the target
		told := (*fs.PathError)(nil)
		if errors.As(err, &told) && strings.HasPrefix(filepath.Base(told.Path), Prefix) {
			told.Op, told.Path = "write", target
		}
	}()
	f, err := create(dir)
	if err != nil {
		return err
	}
	defer remove(f.Name()) // if it has not been moved
	buffered := bufio.NewWriter(f)
	if err = cmp.Or(write(buffered), buffered.Flush()); err == nil {
		err = f.Sync()
	}
	if err == nil {
		err = put(f)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if d, err := os.Open(dir); err == nil { // if folders cannot be synced, the name is on disk slightly later
		_ = d.Sync()
		d.Close()
	}
	return nil
}

// Remedied is an error whose text has the advice of Remedy.
type Remedied struct{ Err error }

func (r Remedied) Error() string { return r.Err.Error() }
func (r Remedied) Unwrap() error { return r.Err }

// Remedy returns advice about a file that could not be written; "" if the cause is unknown, or if
// the error is Remedied.
func Remedy(err error) string {
	is := func(cause error) bool { return errors.Is(err, cause) }
	switch {
	case errors.As(err, new(Remedied)):
	case is(syscall.ENOSPC):
		return "make room on the disk"
	case is(syscall.EDQUOT):
		return "make room in the quota"
	case is(syscall.EFBIG):
		return "raise the limit on file sizes (ulimit -f)"
	case is(syscall.EMFILE), is(syscall.ENFILE):
		return "too many files are open at a time: raise that limit (ulimit -n), or run fewer programs"
	case is(syscall.EROFS):
		return "the file system is read-only: choose another folder"
	case is(fs.ErrPermission):
		return "change the permissions, or choose another folder"
	}
	return ""
}

// Names of temporary files begin with Prefix and end with suffix. After a SIGKILL or a crash such a
// file may remain; it can be deleted.
const (
	Prefix = ".gpc-tune-"
	suffix = ".tmp"
)

// open are the temporary files in use.
var open = struct {
	sync.Mutex
	names map[string]bool
	ended bool // Abandon has been called: no further files are created
}{names: map[string]bool{}}

func create(dir string) (*os.File, error) {
	open.Lock()
	defer open.Unlock()
	if open.ended {
		return nil, fs.ErrClosed
	}
	name := filepath.Join(dir, Prefix+rand.Text()+suffix) // 128 random bits make the name unique
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err == nil {
		open.names[name] = true
	}
	return f, err
}

func remove(name string) {
	os.Remove(name)
	open.Lock()
	defer open.Unlock()
	delete(open.names, name)
}

// Abandon deletes the temporary files, for a process that is about to end. No further files are
// created.
func Abandon() {
	open.Lock()
	defer open.Unlock()
	open.ended = true
	for name := range open.names {
		os.Remove(name)
	}
}
