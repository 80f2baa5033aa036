package page

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gpc-tune/gpc-tune/internal/testing/browser"
	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports/reporttest"
)

// In a browser the page sorts its tables, follows the system's colour scheme and its own switch,
// fits a telephone, requests nothing and logs no errors.
func TestHTMLInBrowser(t *testing.T) {
	b := browser.Start(t, "file://")
	folder := t.TempDir()
	files := flag.Args() // further pages
	write := func(name string, m record.Manifest, lines []record.Line) {
		files = append(files, filepath.Join(folder, name+".html"))
		if err := os.WriteFile(files[len(files)-1], Render(t, "html", reporttest.Build(t, m, lines)), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	m, lines := large(2, 10_000)
	write("deep", m, lines)
	m, lines = large(1000, 10)
	write("wide", m, lines)
	m, lines = large(100, 200)
	write("square", m, lines)
	m, lines = reporttest.ManyClasses(40)
	write("classes", m, lines)
	m, lines = reporttest.Run(t)
	m.Configurations[0].Dataset = injected
	// give nested cross-validation its own folds, with the results of the race
	c := &m.Configurations[1]
	for _, study := range []int{1, 2} {
		own := c.Studies[study]
		own.Key, own.Evaluation = "nested "+own.Key, "nested"
		c.Studies = append(c.Studies, own)
		for _, line := range lines {
			if line.Fit != nil && line.Fit.Configuration == 1 && line.Fit.Study == study {
				fit := *line.Fit
				fit.Study = len(c.Studies) - 1
				lines = append(lines, record.Line{Key: "nested " + line.Key, Fit: &fit})
			}
		}
	}
	m.Contests = []record.Contest{
		{Evaluation: "kfold", Score: "log_loss", Race: "paired_t", Options: []byte("{}"), Configurations: []int{1}, Folds: []int{1, 2}, Next: []int{0}},
		{Evaluation: "kfold", Score: "log_loss", Configurations: []int{1}, Folds: []int{3}, Next: []int{4}, WinnerOnly: true},
	}
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
		for (const table of document.querySelectorAll('table')) for (const head of table.tHead.rows[0].cells) for (const sign of head.dataset.best ? [-1, 1] : [1, -1]) {
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
	var partial []string // log losses of this run; one cell covers one of two folds
	b.Eval(`(() => {
		const table = document.querySelector('#results table'), head = Array.from(table.tHead.rows[0].cells).find(c => c.textContent === 'log loss');
		return [1, 2].map(() => {
			head.querySelector('button').click();
			return Array.from(table.tBodies[0].rows, row => row.cells[head.cellIndex].textContent).join('|');
		});
	})()`, &partial)
	if up, down := "0.4185|0.6931|0.4904*|", "0.6931|0.4185|0.4904*|"; !slices.Equal(slices.Sorted(slices.Values(partial)), []string{up, down}) {
		t.Errorf("what is of some folds does not come after what is of all: %q", partial)
	}
	var contests []string // the tables of a race and of nested cross-validation, whose columns were sorted above like all others
	b.Eval(`Array.from(document.querySelectorAll('#contests table'), t => Array.from(t.tHead.rows[0].cells, c => c.textContent).join(' '))`, &contests)
	for _, columns := range []string{"configuration log loss", "score value", "fold"} {
		if !slices.ContainsFunc(contests, func(c string) bool { return strings.Contains(c, columns) }) {
			t.Errorf("of the tables of contests none has the columns %q: %q", columns, contests)
		}
	}
	var unfolded []bool // before and after the click on its link
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
	// The chosen scheme lasts when the page is opened again. Where pages may not store anything,
	// the switch still works.
	reopen := func() (background string) {
		b.Open("file://" + files[len(files)-1])
		b.Eval(`getComputedStyle(document.body).backgroundColor`, &background)
		return background
	}
	if again := reopen(); again != after {
		t.Errorf("switched to light and opened again, the background is %s", again)
	}
	b.Eval(`scheme.click()`, nil)
	if again := reopen(); again == after {
		t.Errorf("switched back to dark and opened again, the background is %s", again)
	}
	b.Call("Page.addScriptToEvaluateOnNewDocument", map[string]any{"source": `Object.defineProperty(window, 'localStorage', {get() { throw new DOMException('denied', 'SecurityError'); }})`}, nil)
	reopen()
	b.Eval(`scheme.click(); getComputedStyle(document.body).backgroundColor`, &after)
	if again := reopen(); after != "rgb(255, 255, 255)" || again == after {
		t.Errorf("without storage, switched to light and opened again: %s, then %s", after, again)
	}
	// on paper: light, with all parts unfolded, and no number of a wide table broken into lines
	b.Call("Emulation.setEmulatedMedia", map[string]any{"media": "print", "features": []map[string]string{{"name": "prefers-color-scheme", "value": "dark"}}}, nil)
	var printed struct {
		Background string
		Folded     int
		Overflow   int
		Wide       []string
		Numbers    int // of tables with 15 to 35 columns
		Broken     []string
	}
	b.Call("Emulation.setDeviceMetricsOverride", map[string]any{"width": 720, "height": 1000, "deviceScaleFactor": 1, "mobile": false}, nil) // the width of paper
	b.Eval(`document.documentElement.style.colorScheme = 'dark'; dispatchEvent(new Event('beforeprint'));
		({background: getComputedStyle(document.body).backgroundColor, folded: Array.from(document.querySelectorAll('details:not([open])'), d => d.offsetHeight).filter(h => h > 0).length,
			overflow: document.documentElement.scrollWidth - innerWidth,
			wide: Array.from(document.querySelectorAll('main *')).filter(e => e.getBoundingClientRect().right > innerWidth + 1).slice(0, 3).map(e => e.outerHTML.slice(0, 90)),
			...(all => ({numbers: all.length, broken: all.filter(e => { const r = document.createRange(); r.selectNodeContents(e); return r.getBoundingClientRect().height > 2 * parseFloat(getComputedStyle(e).fontSize); }).map(e => e.outerHTML).slice(0, 3)}))
				(Array.from(document.querySelectorAll('table:has(th:nth-child(15)):not(:has(th:nth-child(36))) td.n')))})`, &printed)
	if printed.Background != "rgb(255, 255, 255)" || printed.Folded > 0 || printed.Overflow > 0 || printed.Numbers == 0 || len(printed.Broken) > 0 {
		t.Errorf("printed: %+v", printed)
	}
	b.Photograph("small-printed")
	for _, f := range b.Faults {
		t.Error(f)
	}
}
