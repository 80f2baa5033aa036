package reports

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gpc-tune/gpc-tune/internal/record"
)

var (
	browserName = flag.String("browser", "", "Chromium, for the test of report.html in it")
	screenshots = flag.String("screenshots", "", "folder for pictures of the pages that the test in the browser opens")
)

// browser is a headless Chromium, spoken to in its DevTools protocol over a pair of pipes: JSON texts that end with a zero byte.
type browser struct {
	t       *testing.T
	to      *os.File
	from    *bufio.Reader
	session string
	last    int
	faults  []string // exceptions, messages on the console, and requests for anything but files
}

// startBrowser opens an empty page, or skips the test where there is no browser.
func startBrowser(t *testing.T) *browser {
	if *browserName == "" {
		t.Skip("needs a browser: make test-browser BROWSER=program, where Chromium is not found by itself")
	}
	in, to, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	from, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	c := exec.CommandContext(ctx, *browserName, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--remote-debugging-pipe", "--user-data-dir="+t.TempDir())
	c.ExtraFiles = []*os.File{in, out}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	in.Close()
	out.Close()
	b := &browser{t: t, to: to, from: bufio.NewReader(from)}
	t.Cleanup(func() {
		b.call("Browser.close", nil, nil)
		c.Wait()
		cancel()
	})
	var target struct{ TargetID string }
	b.call("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var session struct{ SessionID string }
	b.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &session)
	b.session = session.SessionID
	for _, domain := range []string{"Page", "Runtime", "Log", "Network"} {
		b.call(domain+".enable", nil, nil)
	}
	return b
}

// call calls a method and waits for its answer, whose result it decodes.
func (b *browser) call(method string, params, result any) {
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
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := b.to.Write(append(text, 0)); err != nil {
		b.t.Fatal(err)
	}
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

// next reads one message, and keeps what is a fault of the page.
func (b *browser) next() (m message) {
	b.t.Helper()
	text, err := b.from.ReadBytes(0)
	if err != nil {
		b.t.Fatalf("the browser is gone: %v", err)
	}
	if err := json.Unmarshal(bytes.TrimSuffix(text, []byte{0}), &m); err != nil {
		b.t.Fatal(err)
	}
	switch m.Method {
	case "Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded":
		b.faults = append(b.faults, string(text))
	case "Network.requestWillBeSent":
		var sent struct{ Request struct{ URL string } }
		if err := json.Unmarshal(m.Params, &sent); err != nil || !strings.HasPrefix(sent.Request.URL, "file://") {
			b.faults = append(b.faults, string(text))
		}
	}
	return m
}

// open opens a page and waits until it is loaded and painted.
func (b *browser) open(file string) {
	b.t.Helper()
	b.call("Page.navigate", map[string]any{"url": "file://" + file}, nil)
	for b.next().Method != "Page.loadEventFired" {
	}
	b.eval(`new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))`, nil)
}

// eval evaluates an expression in the page.
func (b *browser) eval(expression string, value any) {
	b.t.Helper()
	var answer struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails json.RawMessage
	}
	b.call("Runtime.evaluate", map[string]any{"expression": expression, "awaitPromise": true, "returnByValue": true}, &answer)
	if answer.ExceptionDetails != nil {
		b.t.Fatalf("%s: %s", expression, answer.ExceptionDetails)
	}
	if value != nil {
		if err := json.Unmarshal(answer.Result.Value, value); err != nil {
			b.t.Fatalf("%s: %v", expression, err)
		}
	}
}

// view sets the width of the window, and light or dark.
func (b *browser) view(width int, scheme string) {
	b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}, nil)
	b.call("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme}}}, nil)
}

// photograph takes a picture of the whole page, if there is to be one.
func (b *browser) photograph(name string) {
	if *screenshots == "" {
		return
	}
	var shot struct{ Data string }
	b.call("Page.captureScreenshot", map[string]any{"captureBeyondViewport": true}, &shot)
	png, err := base64.StdEncoding.DecodeString(shot.Data)
	if err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(*screenshots, name+".png"), png, 0o666); err != nil {
		b.t.Fatal(err)
	}
}

// In a browser the page sorts its tables, follows the scheme of the system and its own switch, fits a telephone, asks for
// nothing and complains of nothing.
func TestHTMLInBrowser(t *testing.T) {
	b := startBrowser(t)
	folder := t.TempDir()
	files := flag.Args() // further pages
	write := func(name string, m record.Manifest, lines []record.Line) {
		files = append(files, filepath.Join(folder, name+".html"))
		if err := os.WriteFile(files[len(files)-1], render(t, "html", build(t, m, lines)), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	m, lines := large(2, 10_000)
	write("deep", m, lines)
	m, lines = large(1000, 10)
	write("wide", m, lines)
	m, lines = large(100, 200)
	write("square", m, lines)
	m, lines = run(t)
	m.Configurations[0].Dataset = injected
	write("small", m, lines)
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".html")
		for _, scheme := range []string{"light", "dark"} {
			for _, width := range []int{1280, 360} {
				b.view(width, scheme)
				start := time.Now()
				b.open(file)
				t.Logf("%s, %d pixels, %s: open after %v", name, width, scheme, time.Since(start).Round(time.Millisecond))
				var seen struct {
					Background string
					Overflow   int
					Alerts     int
				}
				b.eval(`({background: getComputedStyle(document.body).backgroundColor,
					overflow: document.documentElement.scrollWidth - innerWidth, alerts: window.injected || 0})`, &seen)
				if light := seen.Background == "rgb(255, 255, 255)"; light != (scheme == "light") {
					t.Errorf("%s: the background is %s", scheme, seen.Background)
				}
				if seen.Overflow > 0 {
					t.Errorf("the page is %d pixels wider than a window of %d", seen.Overflow, width)
				}
				if seen.Alerts != 0 {
					t.Error("the script in the name of a data set ran")
				}
				b.photograph(fmt.Sprintf("%s-%d-%s", name, width, scheme))
			}
		}
	}
	// sorting: every column of every table, both ways
	var sorted struct {
		Bad   []string
		Count int
	}
	b.eval(`(() => {
		const bad = [];
		let count = 0;
		for (const table of document.querySelectorAll('table')) for (const head of table.tHead.rows[0].cells) for (const sign of [1, -1]) {
			const before = table.tBodies[0].rows.length;
			head.querySelector('button').click();
			const texts = Array.from(table.tBodies[0].rows, row => row.cells[head.cellIndex].textContent).filter(t => t !== '');
			const numbers = texts.map(Number);
			if (numbers.some(isNaN)) continue;
			if (new Set(numbers).size > 1) count++;
			if (table.tBodies[0].rows.length !== before || numbers.some((x, i) => i > 0 && sign * (x - numbers[i - 1]) < 0)) bad.push(head.textContent + ' ' + sign);
		}
		return {bad, count};
	})()`, &sorted)
	if len(sorted.Bad) > 0 || sorted.Count < 20 {
		t.Errorf("of %d columns of numbers some are not sorted: %v", sorted.Count, sorted.Bad)
	}
	var unfolded []bool // before and after the link to it
	b.eval(`new Promise(done => {
		const details = document.getElementById('c2'), before = details.open;
		addEventListener('hashchange', () => done([before, details.open]));
		document.querySelector('a[href="#c2"]').click();
	})`, &unfolded)
	if !slices.Equal(unfolded, []bool{false, true}) {
		t.Errorf("the link to a configuration: unfolded %v before and after", unfolded)
	}
	var after string
	b.eval(`document.getElementById('scheme').click(); getComputedStyle(document.body).backgroundColor`, &after)
	if after != "rgb(255, 255, 255)" {
		t.Errorf("after the switch from dark the background is %s", after)
	}
	// What is switched to lasts when the page is opened again, and where pages may keep nothing the switch still switches.
	reopen := func() (background string) {
		b.open(files[len(files)-1])
		b.eval(`getComputedStyle(document.body).backgroundColor`, &background)
		return background
	}
	if again := reopen(); again != after {
		t.Errorf("switched to light and opened again, the background is %s", again)
	}
	b.eval(`scheme.click()`, nil)
	if again := reopen(); again == after {
		t.Errorf("switched back to dark and opened again, the background is %s", again)
	}
	b.call("Page.addScriptToEvaluateOnNewDocument", map[string]any{"source": `Object.defineProperty(window, 'localStorage', {get() { throw new DOMException('denied', 'SecurityError'); }})`}, nil)
	reopen()
	b.eval(`scheme.click(); getComputedStyle(document.body).backgroundColor`, &after)
	if again := reopen(); after != "rgb(255, 255, 255)" || again == after {
		t.Errorf("without storage, switched to light and opened again: %s, then %s", after, again)
	}
	// on paper: light, and unfolded
	b.call("Emulation.setEmulatedMedia", map[string]any{"media": "print", "features": []map[string]string{{"name": "prefers-color-scheme", "value": "dark"}}}, nil)
	var printed struct {
		Background string
		Folded     int
		Overflow   int
	}
	b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": 720, "height": 1000, "deviceScaleFactor": 1, "mobile": false}, nil) // of paper
	b.eval(`document.documentElement.style.colorScheme = 'dark'; dispatchEvent(new Event('beforeprint'));
		({background: getComputedStyle(document.body).backgroundColor, folded: document.querySelectorAll('details:not([open])').length,
			overflow: document.documentElement.scrollWidth - innerWidth})`, &printed)
	if printed.Background != "rgb(255, 255, 255)" || printed.Folded > 0 || printed.Overflow > 0 {
		t.Errorf("printed: %+v", printed)
	}
	b.photograph("small-printed")
	for _, f := range b.faults {
		t.Error(f)
	}
}
