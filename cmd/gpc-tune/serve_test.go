package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/gpc-tune/gpc-tune/reports/page"
)

// A server started before the sweep shows its progress until it is finished; SIGTERM ends the
// server with exit code 0, even with a browser's connection still open.
func TestServeBesideARun(t *testing.T) {
	dir := write(t, "lattice.yaml", lattice)
	served := startServer(t, dir, "serve", "run")
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	client, url := &http.Client{Jar: jar}, served.url // like a browser: the token is in the first address only
	if answer, err := client.Get(url + "?token=" + served.token); err != nil || answer.StatusCode != http.StatusOK {
		t.Fatal(answer, err)
	}
	shows := func(what string, is func(page.Live) bool) {
		t.Helper()
		until(t, what, func() bool {
			answer, err := client.Get(url + "status.json")
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
	want := results(t, filepath.Join(dir, "run"))
	until(t, "results.json of the folder", func() bool { // the server reads it again after a second or more
		answer, err := client.Get(url + "results.json")
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		got, err := io.ReadAll(answer.Body)
		return err == nil && bytes.Equal(got, want)
	})
	if more := served.stops(t); !strings.HasPrefix(more, "gpc-tune: run: there is no run yet; waiting for it\ngpc-tune: run: reading\n") {
		t.Error(more)
	}
}

// server is a running server.
type server struct {
	*process
	url, token string
}

// startServer starts a server and waits until it has printed its address.
func startServer(t *testing.T, dir string, args ...string) *server {
	t.Helper()
	s := &server{process: start(t, dir, args...)}
	t.Cleanup(func() { s.Process.Kill() }) // if the test fails
	line := regexp.MustCompile(`(?m)^(http://127\.0\.0\.1:[0-9]+/)(?:\?token=([A-Z2-7]{26}))?\n`)
	var found []string
	s.until(t, "an address", func() bool {
		found = line.FindStringSubmatch(s.out.String())
		return found != nil
	})
	s.url, s.token = found[1], found[2]
	return s
}

// stops ends the server, which must end well, and returns its output without the address. The token
// must not be in this output.
func (s *server) stops(t *testing.T) string {
	t.Helper()
	if err := s.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	<-s.ended
	said := strings.Replace(s.out.String(), s.token, "", 1)
	if s.err != nil || s.token != "" && strings.Contains(said, s.token) {
		t.Errorf("%v\n%s", s.err, &s.out)
	}
	return strings.Replace(said, s.url+"?token=\n", "", 1)
}

// Another user of the machine, who does not know the token, only learns that a server lives. The
// owner reads everything, with the token as a header, in the address, or in a cookie. --no-token
// opens all.
func TestServersAnswerWhoHasTheToken(t *testing.T) {
	dir := write(t, "short.yaml", `{data: {dataset: crabs, preprocess: standardize, subsample: 20}, model: {kernel: se, likelihood: probit, inference: laplace}, tune: none, evaluate: {kfold: {k: 2}}}`)
	succeeds(t, dir, "run", "short.yaml", "-o", "run")
	succeeds(t, dir, "fit", "short.yaml", "-m", "m.json")
	const pages, model = "GET / GET /status.json GET /results.json GET /predictions.csv GET /none POST /", "GET /schema GET /metrics POST /predict GET /none GET /"
	for _, c := range []struct {
		args   []string
		closed []string
		read   string // a path of closed
		secret string // what it has
	}{
		{[]string{"serve", "run"}, strings.Fields(pages), "/predictions.csv", ",label,"},
		{[]string{"serve-model", "m.json"}, strings.Fields(model), "/schema", "classes"},
	} {
		s, free := startServer(t, dir, c.args...), startServer(t, dir, append(c.args, "--no-token")...)
		if s.token == "" || free.token != "" {
			t.Fatalf("tokens %q and %q", s.token, free.token)
		}
		ask := func(method, url string, headers ...string) (int, string, []*http.Cookie) {
			t.Helper()
			r, err := http.NewRequest(method, url, nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, h := range headers {
				name, value, _ := strings.Cut(h, ": ")
				r.Header.Add(name, value)
			}
			answer, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer answer.Body.Close()
			text, err := io.ReadAll(answer.Body)
			if err != nil {
				t.Fatal(err)
			}
			return answer.StatusCode, string(text), answer.Cookies()
		}
		wrong := s.token[:25] + "1" // no letter of a token
		_, _, given := ask("GET", s.url+c.read[1:]+"?token="+s.token)
		if len(given) != 1 || !given[0].HttpOnly || given[0].SameSite != http.SameSiteStrictMode || given[0].Value != s.token {
			t.Fatalf("cookies %v", given)
		}
		for i := 0; i < len(c.closed); i += 2 {
			method, url := c.closed[i], s.url+c.closed[i+1][1:]
			for _, as := range [][]string{
				{url}, {url + "?token="}, {url + "?token=" + wrong}, {url + "?token=" + wrong + "&token=" + s.token}, {url, "Authorization: Bearer " + wrong}, {url, "Authorization: Bearer"},
				{url, "Authorization: Basic " + s.token}, {url, "Cookie: token=" + s.token}, {url, "Cookie: " + given[0].Name + "=" + wrong}, {url, "Cookie: " + given[0].Name + "="},
			} {
				if code, text, cookies := ask(method, as[0], as[1:]...); code != http.StatusUnauthorized || !strings.Contains(text, "open the address that gpc-tune "+c.args[0]+" printed") || len(cookies) > 0 {
					t.Errorf("%s %q: %d %s", method, as, code, text)
				}
			}
		}
		for _, as := range [][]string{{"?token=" + s.token}, {"", "Authorization: Bearer " + s.token}, {"", "authorization: bearer " + s.token}, {"", "Cookie: " + given[0].Name + "=" + s.token}} {
			if code, text, _ := ask("GET", s.url+c.read[1:]+as[0], as[1:]...); code != http.StatusOK || !strings.Contains(text, c.secret) {
				t.Errorf("%q: %d %s", as, code, text)
			}
		}
		if code, text, _ := ask("GET", free.url+c.read[1:]); code != http.StatusOK || !strings.Contains(text, c.secret) {
			t.Errorf("--no-token: %d %s", code, text)
		}
		if code, text, _ := ask("GET", s.url+"health"); c.args[0] == "serve-model" && (code != http.StatusOK || text != "{\"status\":\"ok\"}\n") {
			t.Errorf("/health: %d %s", code, text)
		}
		s.stops(t)
		free.stops(t)
	}
}
