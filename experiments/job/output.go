package job

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/gpc-tune/gpc-tune/search/schedule"
)

const (
	// mostKept is the number of bytes that a tail keeps in memory.
	mostKept = 1 << 16
	// mostWritten is the number of bytes from the start of an output that go to its file.
	mostWritten = 16 << 20
)

// outputs returns the writers of a program's standard output and standard error. They write to
// files in the folder of the point, TRIAL.stdout.txt and TRIAL.stderr.txt, if the trial has a
// folder. A folder that cannot be written to costs the files only: the value is on record. kept
// closes them.
func outputs(of *schedule.Evaluation) (out, complaints *tail, kept func()) {
	out, complaints = &tail{}, &tail{}
	if of.Folder != "" && os.MkdirAll(of.Folder, 0o777) == nil {
		path := filepath.Join(of.Folder, strconv.Itoa(of.Trial))
		out.file, _ = os.Create(path + ".stdout.txt")
		complaints.file, _ = os.Create(path + ".stderr.txt")
		of.Output = filepath.ToSlash(filepath.Join(filepath.Base(filepath.Dir(of.Folder)), filepath.Base(of.Folder),
			strconv.Itoa(of.Trial)))
	}
	return out, complaints, func() { out.close(); complaints.close() }
}

// tail keeps the end of an output, and writes all of it to a file, up to mostWritten bytes.
type tail struct {
	kept    []byte
	file    *os.File // nil: there is none
	written int      // number of bytes in the file
	left    int      // number of bytes that the file does not have
}

// Write implements io.Writer.
func (t *tail) Write(p []byte) (int, error) {
	if t.kept = append(t.kept, p...); len(t.kept) > 2*mostKept {
		t.kept = bytes.Clone(t.kept[len(t.kept)-mostKept:])
	}
	if t.file != nil {
		part := p[:min(len(p), mostWritten-t.written)]
		n, _ := t.file.Write(part) // a full disk costs the file only
		t.written, t.left = t.written+n, t.left+len(p)-n
	}
	return len(p), nil
}

// close ends the file with the end of a longer output.
func (t *tail) close() {
	if t.file == nil {
		return
	}
	if t.left > 0 {
		end := t.kept[max(0, len(t.kept)-t.left):]
		fmt.Fprintf(t.file, "\n… %d bytes left out …\n%s", t.left-len(end), end)
	}
	t.file.Close()
}

// last is the last line that is not empty.
func (t *tail) last() string {
	text := strings.TrimSpace(strings.ToValidUTF8(string(t.kept), "�"))
	return strings.TrimSpace(text[1+strings.LastIndexByte(text, '\n'):])
}
