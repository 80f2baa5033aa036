package page

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/gpc-tune/gpc-tune/internal/browser"
	"github.com/gpc-tune/gpc-tune/reports/reporttest"
)

var axe = flag.String("axe", "", "axe.min.js of the npm package axe-core, for the test of accessibility in the browser")

// axe-core finds nothing to complain of, light and dark, on the pages of the tests and on those that follow the flags.
func TestAccessibleInBrowser(t *testing.T) {
	if *axe == "" {
		t.Skip("needs axe-core: npm pack axe-core, tar xf it, and ARGS=\"-axe package/axe.min.js\"")
	}
	program, err := os.ReadFile(*axe)
	if err != nil {
		t.Fatal(err)
	}
	b := browser.Start(t, "file://")
	files := flag.Args()
	m, lines := reporttest.Run(t)
	rivals, raced := reporttest.Rivals()
	stopped, part := reporttest.Stopped()
	for name, text := range map[string][]byte{"run": Render(t, "html", reporttest.Build(t, m, lines)),
		"rivals": Render(t, "html", reporttest.Build(t, rivals, raced)), "stopped": Render(t, "html", reporttest.Build(t, stopped, part))} {
		files = append(files, filepath.Join(t.TempDir(), name+".html"))
		if err := os.WriteFile(files[len(files)-1], text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range files {
		for _, scheme := range []string{"light", "dark"} {
			b.View(1280, scheme)
			b.Open("file://" + file)
			b.Eval(string(program)+"\n;0", nil)
			var found []string
			b.Eval(`axe.run().then(all => all.violations.map(v => v.id + ' (' + v.nodes.length + '): ' + v.help + ': ' + v.nodes[0].html.slice(0, 200)))`, &found)
			for _, f := range found {
				t.Errorf("%s, %s: %s", filepath.Base(file), scheme, f)
			}
		}
	}
}
