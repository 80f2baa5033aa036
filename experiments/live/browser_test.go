package live

import (
	"context"
	"testing"

	"github.com/gpc-tune/gpc-tune/internal/testing/browser"
)

// In a browser an open page grows with the journal and never reloads: sorting, folding, scrolling,
// focus and the colour scheme stay. It requests nothing elsewhere and logs no errors. Its requests
// have the token of its address in a cookie.
func TestPageGrowsInBrowser(t *testing.T) {
	l, err := Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	url := "http://" + l.Addr().String() + "/"
	b := browser.Start(t, url)
	ctx, end := context.WithCancel(context.Background())
	defer end()
	dir, ended := t.TempDir(), make(chan error, 1)
	go func() { ended <- Serve(ctx, l, New(dir, "secret", silent()), silent(), nil) }()

	b.View(1200, "light")
	b.Open(url + "?token=secret")
	b.Photograph("waiting-1200-light")
	b.Eval(`window.loaded = 1`, nil)
	// until waits until the page fulfils the condition
	until := func(what, condition string) {
		t.Helper()
		var seen string
		b.Eval(`new Promise(done => {
			const end = Date.now() + 120000, look = () => {
				if (`+condition+`) done('');
				else if (Date.now() > end) done(document.body.innerText);
				else setTimeout(look, 20);
			};
			look();
		})`, &seen)
		if seen != "" {
			t.Fatalf("the page is not %s: %s", what, seen)
		}
	}
	rows := `document.querySelector('#c0 [data-name=restarts]')?.querySelectorAll('tbody tr').length`
	begin(t, dir, manifest("k"), "")
	grow(t, dir, jobs(t, "k", 0, 15)...)
	until("begun", rows+` === 15 && document.title.startsWith('sweep')`)
	b.Photograph("begun-1200-light")
	for _, f := range b.Violations() {
		t.Error(f)
	}

	// what a user changes on the page …
	b.View(360, "light")
	b.Eval(`document.getElementById('scheme').click();
		document.getElementById('c1').open = false;
		const table = document.querySelector('#c0 [data-name=restarts]');
		for (const head of table.querySelectorAll('th')) if (head.textContent === 'log_evidence') head.firstChild.click();
		table.scrollLeft = 40;
		document.querySelector('#c0 summary').focus();
		scrollTo(0, scrollY + document.getElementById('c0').getBoundingClientRect().top + 25);`, nil)
	grow(t, dir, jobs(t, "k", 15, 25)...)
	until("grown", rows+` === 25`)
	// … stays, also in a table that is folded initially because it has become long
	var kept struct {
		Loaded, Injected, Left, Top float64
		Sorted, Open, Closed, Dark  bool
		Focus, Order                string
		Overflow                    int
	}
	b.Eval(`(() => {
		const part = document.querySelector('#c0 [data-name=restarts]'), heads = Array.from(part.querySelectorAll('th')), column = heads.findIndex(head => head.textContent === 'log_evidence');
		const values = Array.from(part.querySelectorAll('tbody tr'), row => Number(row.cells[column].textContent));
		return {loaded: window.loaded || 0, injected: window.injected || 0, left: part.scrollLeft, top: document.getElementById('c0').getBoundingClientRect().top,
			sorted: values.every((x, i) => i === 0 || x <= values[i - 1]) && new Set(values).size > 5, order: heads[column].getAttribute('aria-sort'),
			open: part.closest('.fold').open, closed: !document.getElementById('c1').open, dark: getComputedStyle(document.body).backgroundColor !== 'rgb(255, 255, 255)',
			focus: document.activeElement.tagName + document.activeElement.closest('[id]').id, overflow: document.documentElement.scrollWidth - innerWidth};
	})()`, &kept)
	if kept.Loaded != 1 || kept.Injected != 0 || kept.Left != 40 || kept.Top < -26 || kept.Top > -24 || !kept.Sorted || kept.Order != "descending" || !kept.Open || !kept.Closed || !kept.Dark || kept.Focus != "SUMMARYc0" || kept.Overflow > 0 {
		t.Errorf("after it has grown: %+v", kept)
	}
	b.Photograph("grown-360-dark")
	// rows do not move under a selection
	b.Eval(`getSelection().selectAllChildren(document.querySelector('#c0 dl'))`, nil)
	grow(t, dir, jobs(t, "k", 25, trials+1)...)
	until("finished", `document.getElementById('live').hidden`)
	var left int
	b.Eval(`new Promise(done => setTimeout(() => done(`+rows+`), 300))`, &left)
	if left != 25 {
		t.Errorf("%d rows where text is selected", left)
	}
	b.Eval(`getSelection().removeAllRanges()`, nil)
	until("complete", rows+` === 30`)
	b.View(1200, "dark")
	b.Eval(`scheme.click(); scheme.click(); scrollTo(0, 0)`, nil)
	b.Photograph("finished-1200-dark")
	var loaded int
	b.Eval(`window.loaded`, &loaded)
	if loaded != 1 {
		t.Error("the page was loaded again")
	}
	for _, f := range b.Faults {
		t.Error(f)
	}
	end()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	until("told that nobody answers", `document.getElementById('live').innerText.includes('does not answer')`)
}
