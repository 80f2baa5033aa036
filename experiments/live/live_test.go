package live

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gpc-tune/gpc-tune/experiments/journal"
	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/record/parsed"
	"github.com/gpc-tune/gpc-tune/reports/page"
)

// injected is a name that contains a script.
const injected = `<script>window.injected = 1</script>&"'`

// trials is the number of trials of a study in the test's run; its fit follows them.
const trials = 30

// manifest describes a run with two configurations of one study each: restarts, and points.
func manifest(key string) record.Manifest {
	m := record.Manifest{Experiment: "sweep", Source: "sweep.yaml", Key: key}
	for c := range 2 {
		m.Configurations = append(m.Configurations, record.Configuration{Dataset: injected, Label: record.Label{Kernel: parsed.ComponentOf("se"), Likelihood: parsed.ComponentOf("probit"), Inference: parsed.ComponentOf("laplace")}, Classes: []string{"a", "b"}, Tune: []string{"bfgs", "random"}[c],
			Hyperparameters: []record.Hyperparameter{{Name: "length_scale", Theta: "log_length_scale"}},
			Studies:         []record.Study{{Key: fmt.Sprint(c), Evaluation: "train", Train: 9, Jobs: trials + 1}}})
	}
	return m
}

// line is the job with the given index in a configuration.
func line(key string, configuration, index int) record.Line {
	at := []record.Number{record.Number(1 + index*7%10)}
	l := record.Line{Plan: key, Key: fmt.Sprint(configuration, "-", index), Seconds: 0.5}
	if index == trials {
		l.Fit = &record.Fit{Configuration: configuration, Natural: at, LogEvidence: -1, Converged: true, TrainCounts: []int{4, 5}}
		return l
	}
	l.Trial = &record.Trial{Configuration: configuration, Index: index, Start: at, Status: "converged", Evaluations: 1,
		Points: []record.Point{{Theta: at, Natural: at, Value: record.Number(-1 - index*3%10)}}}
	return l
}

func text(t testing.TB, l record.Line) []byte {
	text, err := json.Marshal(l)
	if err != nil {
		t.Fatal(err)
	}
	return journal.Seal(text)
}

// begin creates a run folder.
func begin(t testing.TB, dir string, m record.Manifest, replaces string) {
	t.Helper()
	if err := journal.WriteManifest(dir, m, replaces); err != nil {
		t.Fatal(err)
	}
}

// grow appends to a segment.
func grow(t testing.TB, dir string, texts ...[]byte) {
	t.Helper()
	folder := filepath.Join(dir, "journal")
	if err := os.MkdirAll(folder, 0o777); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(filepath.Join(folder, "one.jsonl"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.Write(slices.Concat(texts...))
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
}

// jobs returns the lines of both configurations for the indices from ≤ i < to.
func jobs(t testing.TB, key string, from, to int) (texts [][]byte) {
	for i := from; i < to; i++ {
		texts = append(texts, text(t, line(key, 0, i)), text(t, line(key, 1, i)))
	}
	return texts
}

// ask requests a path, with headers as "Name: value", which may include Host.
func ask(h http.Handler, method, path string, headers ...string) *http.Response {
	r := httptest.NewRequest(method, path, nil)
	r.Host = "127.0.0.1:8080"
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		if r.Header.Set(name, value); name == "Host" {
			r.Host = value
		}
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

func body(t testing.TB, r *http.Response) string {
	t.Helper()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// status makes the requests of the page.
func status(t testing.TB, h http.Handler) (l page.Live) {
	t.Helper()
	if err := json.Unmarshal([]byte(body(t, ask(h, "GET", "/status.json"))), &l); err != nil {
		t.Fatal(err)
	}
	return l
}

func silent() *log.Logger { return log.New(io.Discard, "", 0) }

func TestRequests(t *testing.T) {
	dir := t.TempDir()
	begin(t, dir, manifest("k"), "")
	grow(t, dir, jobs(t, "k", 0, 5)...)
	h := New(dir, "", silent())
	for _, c := range []struct {
		method, path, host string
		status             int
		kind               string
	}{
		{"GET", "/", "127.0.0.1:8080", 200, "text/html; charset=utf-8"},
		{"HEAD", "/", "127.0.0.1:8080", 200, "text/html; charset=utf-8"},
		{"GET", "/status.json", "localhost:8080", 200, "application/json"},
		{"GET", "/results.json", "[::1]:8080", 200, "application/json"},
		{"GET", "/results.csv", "localhost", 200, "text/csv; charset=utf-8"},
		{"GET", "/trials.csv", "127.0.0.1", 200, "text/csv; charset=utf-8"},
		{"GET", "/predictions.csv", "[::1]", 200, "text/csv; charset=utf-8"},
		{"GET", "/figures/restarts-0.svg", "127.0.0.2:8080", 200, "image/svg+xml"},
		{"GET", "/report.html", "localhost:9", 200, "text/html; charset=utf-8"},
		{"GET", "/manifest.json", "localhost:8080", 404, ""},
		{"GET", "/journal/one.jsonl", "localhost:8080", 404, ""},
		{"GET", "/../" + filepath.Base(dir) + "/manifest.json", "localhost:8080", 404, ""},
		{"GET", "//", "localhost:8080", 404, ""},
		{"GET", "/figures/", "localhost:8080", 404, ""},
		{"GET", "/figures/none.png", "localhost:8080", 404, ""},
		{"GET", "/", "example.org:8080", 421, ""},
		{"GET", "/status.json", "localhost.example.org", 421, ""},
		{"GET", "/", "127.0.0.1.example.org:8080", 421, ""},
		{"GET", "/", "10.0.0.1:8080", 421, ""},
		{"GET", "/", "0.0.0.0:8080", 421, ""},
		{"GET", "/", "", 421, ""},
		{"POST", "/", "example.org:8080", 421, ""},
		{"POST", "/", "localhost:8080", 405, ""},
		{"PUT", "/results.json", "localhost:8080", 405, ""},
		{"DELETE", "/results.json", "localhost:8080", 405, ""},
		{"OPTIONS", "/", "localhost:8080", 405, ""},
		{"TRACE", "/", "localhost:8080", 405, ""},
	} {
		r := ask(h, c.method, c.path, "Host: "+c.host)
		if r.StatusCode != c.status || c.kind != "" && r.Header.Get("Content-Type") != c.kind {
			t.Errorf("%s %s of %q: %s, %s", c.method, c.path, c.host, r.Status, r.Header.Get("Content-Type"))
		}
		if (r.Header.Get("Allow") == "GET, HEAD") != (c.status == 405) {
			t.Errorf("%s %s of %q: allowed are %q", c.method, c.path, c.host, r.Header.Get("Allow"))
		}
		if (r.Header.Get("ETag") != "") != (c.status == 200) {
			t.Errorf("%s %s of %q: the entity tag is %q", c.method, c.path, c.host, r.Header.Get("ETag"))
		}
		for name, want := range map[string]string{"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cross-Origin-Resource-Policy": "same-origin", "Access-Control-Allow-Origin": ""} {
			if got := r.Header.Get(name); got != want {
				t.Errorf("%s %s of %q: %s is %q", c.method, c.path, c.host, name, got)
			}
		}
		if text := body(t, r); c.method == "HEAD" && text != "" || c.status != 200 && strings.Contains(text, "sweep") {
			t.Errorf("%s %s of %q is answered by %q", c.method, c.path, c.host, text)
		}
	}
	// every link of the page works
	links := regexp.MustCompile(` href="([^#"][^"]*)"`).FindAllStringSubmatch(body(t, ask(h, "GET", "/")), -1)
	if len(links) < 6 {
		t.Errorf("links: %q", links)
	}
	for _, link := range links {
		if r := ask(h, "GET", "/"+link[1]); r.StatusCode != 200 || len(body(t, r)) == 0 {
			t.Errorf("%s: %s", link[1], r.Status)
		}
	}
	// the header is consistent with the body
	for _, path := range []string{"/", "/status.json", "/results.json"} {
		head, get := ask(h, "HEAD", path), ask(h, "GET", path)
		if !same(head.Header, get.Header) || fmt.Sprint(len(body(t, get))) != head.Header.Get("Content-Length") {
			t.Errorf("%s: HEAD %v, GET %v", path, head.Header, get.Header)
		}
		r := ask(h, "GET", path, "If-None-Match: "+get.Header.Get("ETag"))
		if r.StatusCode != http.StatusNotModified || body(t, r) != "" {
			t.Errorf("%s: what has not changed is %s", path, r.Status)
		}
		if r := ask(h, "GET", path, `If-None-Match: "another"`); r.StatusCode != 200 {
			t.Errorf("%s: what has changed is %s", path, r.Status)
		}
	}
}

// A file that cannot be made is an error of the server, which the log has too, and the others are
// still sent.
func TestFilesThatCannotBeMade(t *testing.T) {
	dir := t.TempDir()
	begin(t, dir, manifest("k"), "")
	grow(t, dir, jobs(t, "k", 0, 5)...)
	var lines strings.Builder
	h := New(dir, "", log.New(&lines, "", 0))
	h.last.checked = time.Now().Add(time.Hour) // it stays
	h.last.others["/results.csv"] = render(func(io.Writer) error { return errors.New("no ink") })
	r := ask(h, "GET", "/results.csv")
	if text := body(t, r); r.StatusCode != http.StatusInternalServerError || text != "no ink\n" {
		t.Errorf("%d %q", r.StatusCode, text)
	}
	if !strings.HasSuffix(lines.String(), "/results.csv: no ink\n") {
		t.Errorf("the log is %q", &lines)
	}
	if r := ask(h, "GET", "/trials.csv"); r.StatusCode != http.StatusOK {
		t.Errorf("the other file: %d", r.StatusCode)
	}
}

// same reports whether two answers have the same headers.
func same(a, b http.Header) bool { return fmt.Sprint(a) == fmt.Sprint(b) }

// The header and the page have the same policy: everything is loaded from this server, and only the
// two scripts of the page run. A script in a name stays text.
func TestPageIsClosed(t *testing.T) {
	dir := t.TempDir()
	begin(t, dir, manifest("k"), "")
	grow(t, dir, jobs(t, "k", 0, 5)...)
	h := New(dir, "", silent())
	r := ask(h, "GET", "/")
	policy, page := r.Header.Get("Content-Security-Policy"), body(t, r)
	want := "default-src 'none'; style-src 'unsafe-inline'; script-src"
	scripts := regexp.MustCompile("(?s)<script>(.*?)</script>").FindAllStringSubmatch(page, -1)
	for _, script := range scripts {
		hash := sha256.Sum256([]byte(script[1]))
		want += " 'sha256-" + base64.StdEncoding.EncodeToString(hash[:]) + "'"
	}
	want += "; connect-src 'self'"
	if policy != want+"; base-uri 'none'; form-action 'none'; frame-ancestors 'none'" {
		t.Errorf("the policy of the header is %s", policy)
	}
	if !strings.Contains(regexp.MustCompile("&#39;|&#43;").ReplaceAllStringFunc(page, func(s string) string {
		return map[string]string{"&#39;": "'", "&#43;": "+"}[s]
	}), `<meta http-equiv="Content-Security-Policy" content="`+want+`">`) {
		t.Error("the page has another policy")
	}
	if len(scripts) != 2 || strings.Count(page, "<script") != 2 || !strings.Contains(page, "&lt;script&gt;window.injected") {
		t.Errorf("the page has %d scripts", strings.Count(page, "<script"))
	}
	for _, address := range []string{"://", "url(", "@import", "javascript:", " src="} {
		if strings.Contains(page, address) {
			t.Errorf("the page has %q", address)
		}
	}
	if page := body(t, ask(h, "GET", "/report.html")); strings.Count(page, "<script") != 1 || strings.Contains(page, "connect-src") {
		t.Error("report.html is not the page of a file")
	}
}

// Additions to the journal are seen after a second; a partly written line is not.
func TestJournalGrows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		begin(t, dir, manifest("k"), "")
		h := New(dir, "", silent())
		rows := func() int {
			return strings.Count(body(t, ask(h, "GET", "/trials.csv")), "\n") - 1
		}
		versions := map[string]bool{}
		for i := range trials {
			half := text(t, line("k", 1, i))
			grow(t, dir, text(t, line("k", 0, i)), half[:20])
			time.Sleep(freshness)
			s := status(t, h)
			if s.Status.Done != 2*i+1 || s.Status.Known != 2*(trials+1) || s.Status.Finished || rows() != 2*i+1 {
				t.Fatalf("%d of %d jobs and %d trials, after %d", s.Status.Done, s.Status.Known, rows(), 2*i+1)
			}
			if want := fmt.Sprintf("%d of %d known jobs done", 2*i+1, 2*(trials+1)); len(s.Text) != 3 || !strings.Contains(s.Text[0], want) || s.Class != "calm" || !strings.Contains(s.Text[2], "gpc-tune run sweep.yaml -o "+dir+" --resume") {
				t.Fatalf("the page says %q", s.Text)
			}
			grow(t, dir, half[20:])
			if status(t, h).Version != s.Version {
				t.Fatal("read again at once")
			}
			versions[s.Version] = true
		}
		time.Sleep(freshness)
		before := ask(h, "GET", "/").Header.Get("ETag")
		if versions[before] || len(versions) != trials {
			t.Errorf("%d versions", len(versions))
		}
		time.Sleep(time.Hour)
		if r := ask(h, "GET", "/status.json", "If-None-Match: "+before); r.StatusCode != http.StatusNotModified {
			t.Errorf("after an hour without news: %s", r.Status)
		}
		grow(t, dir, jobs(t, "k", trials, trials+1)...)
		if status(t, h).Status.Finished {
			t.Error("read again at once, after an hour without news")
		}
		time.Sleep(freshness)
		if s := status(t, h); !s.Status.Finished || len(s.Text) != 0 || s.Done() != 1 {
			t.Errorf("at the end: %+v", s)
		}
		if page := body(t, ask(h, "GET", "/")); !strings.Contains(page, "No job is missing or has failed") || !strings.Contains(page, `" hidden>`) {
			t.Error("the page does not say that the run is finished")
		}
	})
}

// The folder may appear late, be extended, be damaged, vanish and come back; the page says so and
// shows the last state.
func TestFolders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "run")
		var logged bytes.Buffer
		h := New(dir, "", log.New(&logged, "", 0))
		see := func(title, class, says string, done int, rows string) {
			t.Helper()
			time.Sleep(freshness)
			for range 3 { // problems persist
				s := status(t, h)
				jobs := 0
				if s.Status != nil {
					jobs = s.Status.Done
				}
				if s.Title != title || s.Class != class || !strings.Contains(strings.Join(s.Text, "\n"), says) || jobs != done {
					t.Fatalf("%s, %s, %q, %d jobs; want %s, %s, %q, %d", s.Title, s.Class, s.Text, jobs, title, class, says, done)
				}
				page := body(t, ask(h, "GET", "/"))
				if !strings.Contains(page, "<h1>"+title) || !strings.Contains(page, rows) || (class == "warn") == strings.Contains(page, "<h2>Results") {
					_, page, _ = strings.Cut(page, "<body>")
					t.Fatalf("the page with %q has no %q: %.2000s", says, rows, page)
				}
				time.Sleep(freshness)
			}
		}
		see(dir, "warn", "there is no run yet", 0, "waits")
		if r := ask(h, "GET", "/results.json"); r.StatusCode != 404 || !strings.Contains(body(t, r), "there is no run yet") {
			t.Errorf("a file of no run: %s", r.Status)
		}
		if err := os.Mkdir(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		see(dir, "warn", "there is no run yet", 0, "waits")
		begin(t, dir, manifest("k"), "")
		grow(t, dir, jobs(t, "k", 0, 3)...)
		see("sweep", "calm", "6 of 62 known jobs", 6, "restarts")

		extended := manifest("l")
		extended.Configurations[0].Studies[0].Jobs += 100
		begin(t, dir, extended, "k")
		see("sweep", "calm", "0 of 162 known jobs", 0, "")
		grow(t, dir, jobs(t, "l", 0, 4)...)
		see("sweep", "calm", "8 of 162 known jobs", 8, "restarts")

		if err := os.Rename(dir, dir+"-away"); err != nil {
			t.Fatal(err)
		}
		see("sweep", "bad", "the run folder is gone", 8, "restarts")
		if err := os.Rename(dir+"-away", dir); err != nil {
			t.Fatal(err)
		}
		see("sweep", "calm", "8 of 162 known jobs", 8, "restarts")

		contradiction := line("l", 0, 0)
		contradiction.Trial.Evaluations++
		grow(t, dir, text(t, contradiction))
		see("sweep", "bad", "two different results", 8, "restarts")
		if err := os.WriteFile(filepath.Join(dir, "manifest.json"), []byte("{"), 0o666); err != nil {
			t.Fatal(err)
		}
		see("sweep", "bad", "not a manifest", 8, "restarts")
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		begin(t, dir, manifest("m"), "")
		stray := line("m", 0, 1)
		stray.Trial.Configuration = 7
		grow(t, dir, jobs(t, "m", 0, 1)...)
		see("sweep", "calm", "2 of 62 known jobs", 2, "restarts")
		grow(t, dir, text(t, stray))
		see("sweep", "calm", "2 of 62 known jobs", 2, "restarts")
		if !strings.Contains(logged.String(), "1 line(s) of the journal are incomplete or damaged") || !strings.Contains(logged.String(), "it is of configuration 7; the manifest has 2") {
			t.Errorf("a line of no use is not told: %s", logged.String())
		}

		if lines := strings.Split(logged.String(), "\n"); len(lines) != 9 {
			t.Errorf("the log has %q", lines)
		}
	})
}

// Of many simultaneous requests one reads and renders, and the others wait for its result.
func TestRequestsShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		begin(t, dir, manifest("k"), "")
		h := New(dir, "", silent())
		for i := range 3 {
			grow(t, dir, jobs(t, "k", i, i+1)...)
			time.Sleep(freshness)
			var all sync.WaitGroup
			answers := make([]*http.Response, 40)
			for k := range answers {
				all.Go(func() { answers[k] = ask(h, "GET", []string{"/", "/results.json"}[k%2]) })
			}
			all.Wait()
			for k, r := range answers {
				if r.Header.Get("ETag") != answers[0].Header.Get("ETag") || k > 1 && body(t, r) != body(t, ask(h, "GET", []string{"/", "/results.json"}[k%2])) {
					t.Fatalf("answer %d differs", k)
				}
			}
			if h.versions != i+2 {
				t.Fatalf("%d versions after %d changes", h.versions, i+1)
			}
		}
		// a response that takes long to render is rendered rarely
		h.last.took.Store(int64(10 * time.Second))
		grow(t, dir, jobs(t, "k", 3, 4)...)
		time.Sleep(share*10*time.Second - time.Second)
		if s := status(t, h); s.Status.Done != 6 {
			t.Errorf("%d jobs are seen too early", s.Status.Done)
		}
		time.Sleep(time.Second)
		if s := status(t, h); s.Status.Done != 8 {
			t.Errorf("%d jobs are seen", s.Status.Done)
		}
	})
}

// The cost of a state is the time of reading the folder, also if nothing is new, and of rendering.
func TestCostsOfAState(t *testing.T) {
	dir := t.TempDir()
	begin(t, dir, manifest("k"), "")
	grow(t, dir, jobs(t, "k", 0, 3)...)
	h := New(dir, "", silent())
	read := h.last.took.Load()
	if read <= 0 {
		t.Errorf("reading took %d ns", read)
	}
	h.last.checked = time.Now().Add(time.Hour) // it stays
	if ask(h, "GET", "/"); h.last.took.Load() <= read {
		t.Errorf("%d ns, with the page %d", read, h.last.took.Load())
	}
	state := h.last
	for _, before := range []int64{1, int64(time.Hour)} {
		state.took.Store(before)
		state.checked = time.Time{}
		h.current()
		if got := state.took.Load(); h.last != state || (before == 1) != (got > before) || got < before {
			t.Errorf("%d ns before a reading without news, %d after", before, got)
		}
	}
}

func TestListen(t *testing.T) {
	for _, address := range []string{"127.0.0.1:0", "localhost:0"} {
		l, err := Listen(address)
		if err != nil {
			t.Errorf("%s: %v", address, err)
			continue
		}
		if _, err := Listen(l.Addr().String()); err == nil || !strings.Contains(err.Error(), "port 0") {
			t.Errorf("a port that is taken: %v", err)
		}
		l.Close()
	}
	for address, says := range map[string]string{"0.0.0.0:0": "ssh -L", ":0": "ssh -L", "[::]:0": "ssh -L", "192.0.2.1:80": "ssh -L", "example.org:80": "ssh -L", "8080": "as in 127.0.0.1:8080", "": "as in 127.0.0.1:8080", "127.0.0.1:x": ""} {
		if l, err := Listen(address); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: listens on %v, %v", address, l, err)
		}
	}
}

// At shutdown an idle connection is closed at once, one with an answer in progress when the answer
// is sent or the time is up.
func TestServeEnds(t *testing.T) {
	for _, patient := range []bool{true, false} {
		l, err := Listen("127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		done, asked, answered, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1), make(chan error, 1)
		go func() {
			ended <- Serve(ctx, l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/slow" {
					return
				}
				close(asked)
				if !patient {
					<-r.Context().Done()
					return
				}
				<-done
				for { // until new connections are refused
					c, err := http.Get("http://" + l.Addr().String())
					if err != nil {
						break
					}
					c.Body.Close()
				}
			}), silent(), done)
		}()
		get := func(path string) error {
			r, err := http.Get("http://" + l.Addr().String() + path)
			if err == nil {
				_, err = io.Copy(io.Discard, r.Body)
				r.Body.Close()
			}
			return err
		}
		if err := get("/"); err != nil { // the connection stays open
			t.Fatal(err)
		}
		go func() { answered <- get("/slow") }()
		<-asked
		close(done)
		if !patient {
			cancel()
		}
		if err := <-answered; (err == nil) != patient {
			t.Errorf("patient %v: the answer under way: %v", patient, err)
		}
		if err := <-ended; err != nil {
			t.Errorf("patient %v: %v", patient, err)
		}
		cancel()
	}
}
