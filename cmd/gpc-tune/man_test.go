package main

import (
	"context"
	"io"
	"os/exec"
	"path/filepath"
	"testing"
)

// Text is escaped, so that roff prints it as it is and interprets nothing in it.
func TestRoff(t *testing.T) {
	for text, want := range map[string]string{
		".B a":      `\&.B a`,
		`a\b -c`:    `a\eb \-c`,
		"'x' `y`":   `\(aqx\(aq \(gay\(ga`,
		"σ² … 10^6": `\[u03C3]\[u00B2] \[u2026] 10\(ha6`,
	} {
		if got := roff(text); got != want {
			t.Errorf("%s gives %s, want %s", text, got, want)
		}
	}
}

// groff accepts every page without a warning.
func TestManualPages(t *testing.T) {
	if _, err := exec.LookPath("groff"); err != nil {
		t.Skip("needs groff, of the Debian package groff: install it and run it there")
	}
	dir := t.TempDir()
	if got := run(context.Background(), nil, []string{"man", "-o", dir}, nil, io.Discard, io.Discard); got != exitDone {
		t.Fatal("exit code", got)
	}
	pages, err := filepath.Glob(filepath.Join(dir, "*.1"))
	if err != nil || len(pages) < 20 {
		t.Fatal(err, pages)
	}
	if out, err := exec.Command("groff", append([]string{"-man", "-Tutf8", "-ww", "-z"}, pages...)...).CombinedOutput(); err != nil ||
		len(out) > 0 {
		t.Errorf("%v\n%s", err, out)
	}
}
