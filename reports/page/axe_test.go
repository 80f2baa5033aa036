package page

import (
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/gpc-tune/gpc-tune/internal/testing/browser"
	"github.com/gpc-tune/gpc-tune/reports/reporttest"
	"github.com/gpc-tune/gpc-tune/reports/table"
)

var (
	longestLoad = flag.Duration("load", 0, "how long the browser may need for a page, at the best of three tries; 0: "+
		"as long as it likes")
	largestPage = flag.Int64("size", 0, "how many bytes a page may have; 0: any number")
)

// mostSheets is the largest number of sheets on which a page may be printed. What is folded on the
// screen is printed too.
const mostSheets = 24

// axe-core finds no violations, light and dark, on the pages of the tests and on the pages named
// after the flags. No page is larger or slower to load than the flags allow, and none prints on
// more than 24 sheets. Of the page of 500 configurations, which has nothing that others lack, only
// the time to load is tested.
func TestAccessibleInBrowser(t *testing.T) {
	b := browser.Start(t, "file://")
	files := flag.Args()
	pages := proseReports(t)
	m, lines := regressionRun()
	pages["numbers"] = reporttest.Build(t, m, lines)
	pages["illustrations"] = reporttest.Build(t, illustrating(), nil)
	m, lines = large(4, 200)
	pages["trials"] = reporttest.Build(t, m, lines)
	const crowded = "500 configurations"
	m, lines = crowd(500)
	pages[crowded] = reporttest.Build(t, m, lines)
	for _, name := range slices.Sorted(maps.Keys(pages)) {
		files = append(files, filepath.Join(t.TempDir(), name+".html"))
		if err := os.WriteFile(files[len(files)-1], Render(t, "html", pages[name]), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range files {
		name := filepath.Base(file)
		many := name == crowded+".html"
		if info, err := os.Stat(file); !many && (err != nil || *largestPage > 0 && info.Size() > *largestPage) {
			t.Errorf("%s: %v, more than %d bytes", name, err, *largestPage)
		}
		for _, scheme := range []string{"light", "dark"} {
			if many {
				break
			}
			var rules []string // all
			if scheme == "dark" {
				rules = []string{"color-contrast"} // the other rules do not depend on the scheme
			}
			b.View(1280, scheme)
			b.Open("file://" + file)
			for _, f := range b.Violations(rules...) {
				t.Errorf("%s, %s: %s", name, scheme, f)
			}
		}
		if many {
			b.View(1280, "light")
		} else if sheets := b.Sheets(); sheets < 1 || sheets > mostSheets {
			t.Errorf("%s: %d sheets when printed", name, sheets)
		}
		if *longestLoad == 0 {
			continue
		}
		quickest := time.Hour
		for range 3 {
			b.Open("file://" + file)
			var milliseconds float64
			b.Eval(`performance.getEntriesByType('navigation')[0].loadEventStart`, &milliseconds)
			quickest = min(quickest, time.Duration(milliseconds*float64(time.Millisecond)))
		}
		if t.Logf("%s: loaded after %v", name, quickest); quickest > *longestLoad {
			t.Errorf("%s: loaded after %v, want %v", name, quickest, *longestLoad)
		}
	}
	for _, f := range b.Faults {
		t.Error(f)
	}
}

// Every column head has an explanation.
func TestHeadsAreExplained(t *testing.T) {
	m, lines := regressionRun()
	all := proseReports(t)
	all["numbers"], all["illustrations"] = reporttest.Build(t, m, lines), reporttest.Build(t, illustrating(), nil)
	for name, r := range all {
		for _, s := range newDocument(r, table.ForPages, longestSummary, longestTable).sheets() {
			for _, c := range s.Columns {
				if c.Doc == "" {
					t.Errorf("%s: %q does not say what its column %q is", name, s.Heading, c.Name)
				}
			}
		}
	}
}

// sheets returns all tables of a document.
func (d document) sheets() []sheet {
	var all []sheet
	for _, c := range slices.Concat(d.Results, d.Chapters) {
		all = append(all, c.Sheets...)
	}
	for _, c := range d.Details {
		all = append(all, c.Sheets...)
	}
	return all
}
