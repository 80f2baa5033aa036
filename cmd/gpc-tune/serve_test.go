package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"net/http"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/gpc-tune/gpc-tune/internal/testing/golden"
	"github.com/gpc-tune/gpc-tune/reports/page"
)

// A server started before the sweep shows its progress until it is finished; SIGTERM ends the
// server with exit code 0, even with a browser's connection still open.
func TestServeBesideARun(t *testing.T) {
	dir := write(t, "lattice.yaml", lattice)
	served := gpcTune(t, dir, "serve", "run")
	var log bytes.Buffer
	served.Stderr = &log
	out, err := served.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := served.Start(); err != nil {
		t.Fatal(err)
	}
	defer served.Process.Kill() // if the test fails
	lines := bufio.NewReader(out)
	url, err := lines.ReadString('\n')
	if err != nil || !strings.HasPrefix(url, "http://127.0.0.1:") {
		t.Fatalf("%q, %v: %s", url, err, &log)
	}
	url = strings.TrimSuffix(url, "\n")
	shows := func(what string, is func(page.Live) bool) {
		t.Helper()
		until(t, what, func() bool {
			answer, err := http.Get(url + "status.json")
			if err != nil {
				t.Fatal(err)
			}
			defer answer.Body.Close()
			var l page.Live
			if err = json.NewDecoder(answer.Body).Decode(&l); err != nil {
				t.Fatal(err)
			}
			return is(l)
		})
	}
	shows("waiting", func(l page.Live) bool { return l.Status == nil && l.Class == "warn" })
	t.Setenv(heldIn, dir)
	t.Setenv(heldAfter, "20")
	p := start(t, dir, "run", "lattice.yaml", "-o", "run", "-j", "1", "--set", "model.kernel=held")
	defer p.Process.Kill()
	shows("under way", func(l page.Live) bool {
		return l.Status != nil && l.Status.Done > 0 && l.Status.Done < latticeJobs && l.Status.Known == latticeJobs
	})
	release(t, dir)
	shows("finished", func(l page.Live) bool {
		return l.Status.Finished && l.Status.Done == latticeJobs && len(l.Text) == 0
	})
	if <-p.ended; p.err != nil {
		t.Fatalf("%v\n%s", p.err, &p.out)
	}
	answer, err := http.Get(url + "results.json")
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	if _, err := got.ReadFrom(answer.Body); err != nil {
		t.Error(err)
	}
	golden.Equal(t, "results.json is not that of the folder", got.Bytes(), results(t, filepath.Join(dir, "run")))
	answer.Body.Close()
	if err := served.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if more, err := lines.ReadString('\n'); more != "" {
		t.Errorf("on stdout there is %q, %v", more, err)
	}
	if err := served.Wait(); err != nil || !strings.Contains(log.String(), "gpc-tune: run: there is no run yet\ngpc-tune: run: reading\n") {
		t.Errorf("%v\n%s", err, &log)
	}
}
