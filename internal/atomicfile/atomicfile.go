// Package atomicfile writes files that are whole or absent, whatever ends the process meanwhile.
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

// Write replaces the file name by what write writes. Whoever reads it sees the old file or the new
// one, whole, also after a crash of the system. A new file has the mode that the umask leaves of
// 0666; an old one keeps its mode, and is not replaced where it may not be written to. A symbolic
// link stays, and the file that it names is replaced. A device or a FIFO is written to as it is. An
// error leaves the old file, and nothing else.
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

// Create is Write for a file that must not be there yet: otherwise the error is an fs.ErrExist,
// also if another process has been faster.
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
		return os.Rename(temporary.Name(), name) // on a file system without links
	})
}

// Check tells before the work whether Write could write the file name after it. It leaves nothing.
func Check(name string) error {
	target, old, err := resolve(name)
	if err != nil || old != nil && !old.Mode().IsRegular() { // opening a FIFO waits for its reader
		return err
	}
	return replace(target, func(io.Writer) error { return nil }, func(*os.File) error { return nil })
}

// resolve follows links from name to a regular file, which must be writable, or to the name of a
// file that is not there yet: then old is nil. A file of another kind is not followed, and neither
// is a link to what has no name any more, as /dev/stdout may be.
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
	for range 40 { // Linux follows so many links too
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

// replace writes a file beside target and, once it is on disk, has put move it there.
func replace(target string, write func(io.Writer) error, put func(temporary *os.File) error) (err error) {
	dir := filepath.Dir(target)
	defer func() { // an error names the file that is meant
		told := (*fs.PathError)(nil)
		if errors.As(err, &told) && strings.HasPrefix(filepath.Base(told.Path), Prefix) {
			told.Op, told.Path = "write", target
		}
	}()
	f, err := create(dir)
	if err != nil {
		return err
	}
	defer remove(f.Name()) // where it has not been moved
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
	if d, err := os.Open(dir); err == nil { // where folders cannot be synced, the name is on disk a little later
		_ = d.Sync()
		d.Close()
	}
	return nil
}

// Remedy says what to do about a file that could not be written; "" if err does not tell.
func Remedy(err error) string {
	is := func(cause error) bool { return errors.Is(err, cause) }
	switch {
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

// The names of files that are being written begin with Prefix and end with suffix. After a SIGKILL
// or a crash such a file may stay; it may be deleted.
const (
	Prefix = ".gpc-tune-"
	suffix = ".tmp"
)

// open are the files that are being written.
var open = struct {
	sync.Mutex
	names map[string]bool
	ended bool // Abandon has been called: nothing is created any more
}{names: map[string]bool{}}

func create(dir string) (*os.File, error) {
	open.Lock()
	defer open.Unlock()
	if open.ended {
		return nil, fs.ErrClosed
	}
	name := filepath.Join(dir, Prefix+rand.Text()+suffix) // 128 random bits: no other file has it
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

// Abandon deletes the files that are being written, for a process that is about to end. No other is
// begun.
func Abandon() {
	open.Lock()
	defer open.Unlock()
	open.ended = true
	for name := range open.names {
		os.Remove(name)
	}
}
