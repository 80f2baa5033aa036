// Package browser opens pages in a headless Chromium, for tests.
package browser

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

var (
	program     = flag.String("browser", "", "Chromium, for the tests of pages in it")
	screenshots = flag.String("screenshots", "", "folder for pictures of the pages that tests open in the browser")
	axe         = flag.String("axe", "", "axe.min.js of the npm package axe-core, which tests pages for accessibility")
)

// Browser is a headless Chromium, controlled by its DevTools protocol over a pair of pipes: JSON
// texts that end with a zero byte.
type Browser struct {
	t        *testing.T
	prefixes []string
	to       *os.File
	from     *bufio.Reader
	session  string
	last     int
	Faults   []string // exceptions, console messages, and unexpected requests
}

// Start opens an empty page, and records requests that do not begin with one of the prefixes as
// faults. It skips the test if there is no browser.
func Start(t *testing.T, prefixes ...string) *Browser {
	if *program == "" {
		t.Skip("needs a browser: make test-browser BROWSER=program, where Chromium is not found by itself")
	}
	in, to, err := os.Pipe()
	b := &Browser{t: t, prefixes: prefixes, to: to}
	b.must(err)
	from, out, err := os.Pipe()
	b.must(err)
	b.from = bufio.NewReader(from)
	ctx, cancel := context.WithTimeout(context.Background(), 9*time.Minute)
	c := exec.CommandContext(ctx, *program, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
		"--remote-debugging-pipe", "--user-data-dir="+t.TempDir())
	c.ExtraFiles = []*os.File{in, out}
	b.must(c.Start())
	in.Close()
	out.Close()
	t.Cleanup(func() {
		b.Call("Browser.close", nil, nil)
		c.Wait()
		cancel()
	})
	var target struct{ TargetID string }
	b.Call("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var session struct{ SessionID string }
	b.Call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &session)
	b.session = session.SessionID
	for _, domain := range []string{"Page", "Runtime", "Log", "Network"} {
		b.Call(domain+".enable", nil, nil)
	}
	return b
}

func (b *Browser) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

// Call calls a method and waits for its answer, whose result it decodes.
func (b *Browser) Call(method string, params, result any) {
	b.t.Helper()
	b.last++
	request := map[string]any{"id": b.last, "method": method}
	if params != nil {
		request["params"] = params
	}
	if b.session != "" && !strings.HasPrefix(method, "Browser.") {
		request["sessionId"] = b.session
	}
	text, err := json.Marshal(request)
	b.must(err)
	_, err = b.to.Write(append(text, 0))
	b.must(err)
	for {
		answer := b.next()
		if answer.ID != b.last {
			continue
		}
		if answer.Error != nil {
			b.t.Fatalf("%s: %s", method, answer.Error)
		}
		if result != nil {
			if err := json.Unmarshal(answer.Result, result); err != nil {
				b.t.Fatalf("%s: %v", method, err)
			}
		}
		return
	}
}

type message struct {
	ID            int
	Method        string
	Params        json.RawMessage
	Result, Error json.RawMessage
}

// next reads one message, and records it if it is a fault of the page.
func (b *Browser) next() (m message) {
	b.t.Helper()
	text, err := b.from.ReadBytes(0)
	if err != nil {
		b.t.Fatalf("the browser is gone: %v", err)
	}
	b.must(json.Unmarshal(bytes.TrimSuffix(text, []byte{0}), &m))
	switch m.Method {
	case "Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded":
		b.Faults = append(b.Faults, string(text))
	case "Network.requestWillBeSent":
		var sent struct{ Request struct{ URL string } }
		err := json.Unmarshal(m.Params, &sent)
		expected := func(prefix string) bool { return strings.HasPrefix(sent.Request.URL, prefix) }
		if err != nil || !slices.ContainsFunc(b.prefixes, expected) {
			b.Faults = append(b.Faults, string(text))
		}
	}
	return m
}

// Open opens a page and waits until it is loaded and painted.
func (b *Browser) Open(url string) {
	b.t.Helper()
	b.Call("Page.navigate", map[string]any{"url": url}, nil)
	b.loaded()
}

// Follow does what an expression says, which opens another page, and waits as Open does.
func (b *Browser) Follow(expression string) {
	b.t.Helper()
	b.Eval(`setTimeout(() => { `+expression+` }, 0) && 0`, nil)
	b.loaded()
}

func (b *Browser) loaded() {
	b.t.Helper()
	for b.next().Method != "Page.loadEventFired" {
	}
	b.Eval(`new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))`, nil)
}

// Eval evaluates an expression in the page.
func (b *Browser) Eval(expression string, value any) {
	b.t.Helper()
	var answer struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails json.RawMessage
	}
	b.Call("Runtime.evaluate",
		map[string]any{"expression": expression, "awaitPromise": true, "returnByValue": true}, &answer)
	if answer.ExceptionDetails != nil {
		b.t.Fatalf("%s: %s", expression, answer.ExceptionDetails)
	}
	if value != nil {
		if err := json.Unmarshal(answer.Result.Value, value); err != nil {
			b.t.Fatalf("%s: %v", expression, err)
		}
	}
}

// Violations are the findings of axe-core for the open page, by these rules, or by all rules if
// none are given; nil without axe-core.
func (b *Browser) Violations(rules ...string) (found []string) {
	b.t.Helper()
	if *axe == "" {
		b.t.Log("accessibility is not tested: make test-browser fetches axe-core, where npm is")
		return nil
	}
	program, err := os.ReadFile(*axe)
	b.must(err)
	b.Eval(string(program)+"\n;0", nil)
	options := map[string]any{}
	if len(rules) > 0 {
		options["runOnly"] = rules
	}
	chosen, err := json.Marshal(options)
	b.must(err)
	b.Eval(`axe.run(`+string(chosen)+`).then(all => all.violations.map(v =>
		v.id + ' (' + v.nodes.length + '): ' + v.help + ': ' + v.nodes[0].html.slice(0, 200)))`, &found)
	return found
}

// Sheets counts the sheets of A4 that the open page is printed on.
func (b *Browser) Sheets() int {
	b.t.Helper()
	var printed struct{ Data []byte }
	b.Call("Page.printToPDF", map[string]any{"paperWidth": 8.27, "paperHeight": 11.69}, &printed)
	return bytes.Count(printed.Data, []byte("/Type /Page\n"))
}

// View sets the width of the window, and light or dark.
func (b *Browser) View(width int, scheme string) {
	b.Call("Emulation.setDeviceMetricsOverride",
		map[string]any{"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}, nil)
	wanted := []map[string]string{{"name": "prefers-color-scheme", "value": scheme}}
	b.Call("Emulation.setEmulatedMedia", map[string]any{"features": wanted}, nil)
}

// Photograph saves a picture of the whole page, if requested.
func (b *Browser) Photograph(name string) {
	if *screenshots == "" {
		return
	}
	var shot struct{ Data []byte } // in base64
	b.Call("Page.captureScreenshot", map[string]any{"captureBeyondViewport": true}, &shot)
	b.must(os.WriteFile(filepath.Join(*screenshots, name+".png"), shot.Data, 0o666))
}
