package reports

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gpc-tune/gpc-tune/internal/browser"
	"github.com/gpc-tune/gpc-tune/internal/record"
)

// In a browser the page sorts its tables, follows the scheme of the system and its own switch, fits a telephone, asks for
// nothing and complains of nothing.
func TestHTMLInBrowser(t *testing.T) {
	b := browser.Start(t, "file://")
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
				b.View(width, scheme)
				start := time.Now()
				b.Open("file://" + file)
				t.Logf("%s, %d pixels, %s: open after %v", name, width, scheme, time.Since(start).Round(time.Millisecond))
				var seen struct {
					Background string
					Overflow   int
					Alerts     int
				}
				b.Eval(`({background: getComputedStyle(document.body).backgroundColor,
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
				b.Photograph(fmt.Sprintf("%s-%d-%s", name, width, scheme))
			}
		}
	}
	// sorting: every column of every table, both ways
	var sorted struct {
		Bad   []string
		Count int
	}
	b.Eval(`(() => {
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
	b.Eval(`new Promise(done => {
		const details = document.getElementById('c2'), before = details.open;
		addEventListener('hashchange', () => done([before, details.open]));
		document.querySelector('a[href="#c2"]').click();
	})`, &unfolded)
	if !slices.Equal(unfolded, []bool{false, true}) {
		t.Errorf("the link to a configuration: unfolded %v before and after", unfolded)
	}
	var after string
	b.Eval(`document.getElementById('scheme').click(); getComputedStyle(document.body).backgroundColor`, &after)
	if after != "rgb(255, 255, 255)" {
		t.Errorf("after the switch from dark the background is %s", after)
	}
	// on paper: light, and unfolded
	b.Call("Emulation.setEmulatedMedia", map[string]any{"media": "print", "features": []map[string]string{{"name": "prefers-color-scheme", "value": "dark"}}}, nil)
	var printed struct {
		Background string
		Folded     int
		Overflow   int
	}
	b.Call("Emulation.setDeviceMetricsOverride", map[string]any{"width": 720, "height": 1000, "deviceScaleFactor": 1, "mobile": false}, nil) // of paper
	b.Eval(`scheme.click(); dispatchEvent(new Event('beforeprint'));
		({background: getComputedStyle(document.body).backgroundColor, folded: document.querySelectorAll('details:not([open])').length,
			overflow: document.documentElement.scrollWidth - innerWidth})`, &printed)
	if printed.Background != "rgb(255, 255, 255)" || printed.Folded > 0 || printed.Overflow > 0 {
		t.Errorf("printed: %+v", printed)
	}
	b.Photograph("small-printed")
	for _, f := range b.Faults {
		t.Error(f)
	}
}
