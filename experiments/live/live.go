// Package live shows a run folder over HTTP during its run: the report as a page that updates
// itself, and the report's files. It writes nothing, and reads the folder on requests only.
package live

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net/http"
	"path"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gpc-tune/gpc-tune/experiments/run"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/page"
)

const (
	freshness = time.Second // a state is used this long before the folder is read again
	share     = 4           // and at least this multiple of the time that making it took
)

// started makes the versions of this process differ from the versions of any other process.
var started = strconv.FormatInt(time.Now().UnixNano(), 36)

// Handler answers GET and HEAD of / (the page), /status.json (a page.Live) and the files of
// page.Formats, all made from the manifest and the journal in the folder, if the request has the
// token. The Host of a request must be localhost or a loopback address, with any port, since an SSH
// tunnel has its own. So a site whose name is made to resolve to this machine cannot read anything.
//
// A response is reused for all requests for at least a second, so that it takes at most a quarter
// of one processor's time.
type Handler struct {
	dir    string
	access access
	log    *log.Logger

	mu       sync.Mutex // guards all fields below
	follower run.Follower
	last     *state
	versions int

	rendering sync.Mutex // one at a time
}

// state is the content of the folder at some time, and the pages made from it.
type state struct {
	folder   *run.Folder       // the folder as read; nil: not read
	err      string            // why it could not be read
	report   *reports.Report   // report of the last readable content of the folder; nil: none yet
	timed    *reports.Report   // the same report with times, for the served page
	progress *reports.Progress // progress of the last readable content
	trouble  string
	version  string
	live     page.Live
	status   rendered
	others   map[string]rendered // other responses by path; guarded by Handler.rendering
	checked  time.Time
	took     atomic.Int64 // nanoseconds
}

type rendered struct {
	body []byte
	err  error
}

// New makes the Handler of a run folder, which may not exist yet. With an empty token everybody on
// this machine can read the folder through it. It logs when the folder appears, disappears or
// cannot be read.
func New(dir, token string, log *log.Logger) *Handler {
	h := &Handler{dir: dir, access: access{command: "gpc-tune serve", token: token}, log: log,
		follower: run.Follower{Dir: dir}}
	h.current()
	return h
}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	if status, why := h.access.refuse(w, r); status != 0 {
		http.Error(w, why, status)
		return
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		header.Set("Allow", "GET, HEAD")
		http.Error(w, "this server is read-only", http.StatusMethodNotAllowed)
		return
	}
	s := h.current()
	answer, found := h.render(s, r.URL.Path)
	if !found {
		http.Error(w, cmp.Or(s.trouble, "the report has no such file"), http.StatusNotFound)
		return
	}
	if answer.err != nil {
		h.log.Printf("%s: %v", r.URL.Path, answer.err)
		http.Error(w, answer.err.Error(), http.StatusInternalServerError)
		return
	}
	header.Set("Content-Type", cmp.Or(contentTypes[path.Ext(r.URL.Path)], "text/plain; charset=utf-8"))
	header.Set("ETag", strconv.Quote(s.version))
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(answer.body))
}

// contentTypes are the types of files, by extension; others are text.
var contentTypes = map[string]string{
	"": "text/html; charset=utf-8", ".html": "text/html; charset=utf-8", ".json": "application/json",
	".csv": "text/csv; charset=utf-8", ".svg": "image/svg+xml", ".png": "image/png", ".pdf": "application/pdf",
}

// current returns the state, which is at most about a second old.
func (h *Handler) current() *state {
	h.mu.Lock()
	defer h.mu.Unlock()
	begin, before := time.Now(), h.last
	if before == nil {
		before = &state{}
	} else if begin.Sub(before.checked) < max(freshness, share*time.Duration(before.took.Load())) {
		return before
	}
	s := &state{checked: begin, others: map[string]rendered{}}
	var err error
	if s.folder, err = h.follower.Read(); err != nil {
		s.err = err.Error()
	}
	if h.last != nil && s.folder == before.folder && s.err == before.err {
		before.checked = begin
		// after an error everything is read again
		before.took.Store(max(before.took.Load(), int64(time.Since(begin))))
		return before
	}
	s.make(before, h.dir, err)
	if s.trouble != before.trouble || h.last == nil {
		h.log.Print(cmp.Or(s.trouble, h.dir+": reading"))
	}
	if s.folder != nil {
		for _, note := range s.folder.Notes {
			if before.folder == nil || !slices.Contains(before.folder.Notes, note) {
				h.log.Print(note)
			}
		}
	}
	h.versions++
	s.version = fmt.Sprintf("%s-%d", started, h.versions)
	s.live = page.NewLive(s.version, h.dir, s.progress, s.trouble)
	s.status = render(s.live.WriteJSON)
	s.took.Store(int64(time.Since(begin)))
	h.last = s
	return s
}

// make builds the report of the folder that was read. If reading failed, it keeps the report of the
// previous state.
func (s *state) make(before *state, dir string, err error) {
	if err == nil {
		s.timed, err = s.folder.Timed()
	}
	if err == nil {
		untimed := *s.timed
		untimed.Times, s.report = nil, &untimed
	}
	if err == nil {
		s.progress, err = s.folder.Progress()
	}
	if err != nil {
		s.report, s.timed, s.progress, s.trouble = before.report, before.timed, before.progress, err.Error()
	}
	switch {
	case errors.Is(err, fs.ErrNotExist) && s.report == nil:
		s.trouble = dir + ": there is no run yet; waiting for it"
	case errors.Is(err, fs.ErrNotExist):
		s.trouble = dir + ": the run folder is gone"
	}
}

// render returns the response of a state for a path, computed on the first request.
func (h *Handler) render(s *state, path string) (rendered, bool) {
	if path == "/status.json" { // does not wait for other responses
		return s.status, true
	}
	h.rendering.Lock()
	defer h.rendering.Unlock()
	if r, found := s.others[path]; found {
		return r, true
	}
	write := s.writer(path)
	if write == nil {
		return rendered{}, false
	}
	begin := time.Now()
	s.others[path] = render(write)
	s.took.Add(int64(time.Since(begin)))
	return s.others[path], true
}

func render(write func(io.Writer) error) rendered {
	var b bytes.Buffer
	err := write(&b)
	return rendered{b.Bytes(), err}
}

// writer returns the function that writes the response; nil: there is none.
func (s *state) writer(name string) func(io.Writer) error {
	if name == "/" {
		return func(w io.Writer) error { return s.live.WriteHTML(w, s.timed) }
	}
	for _, f := range page.Formats {
		if match, _ := path.Match("/"+f.File, name); !match || s.report == nil {
			continue
		}
		report := s.report
		if f.Draw != nil { // the served page has times in its figures
			report = s.timed
		}
		for _, file := range f.Files(report) {
			if name == "/"+file.Name {
				return file.Write
			}
		}
	}
	return nil
}
