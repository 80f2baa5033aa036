package main

import (
	"context"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/gpc-tune/gpc-tune/internal/testing/needs"
	"github.com/gpc-tune/gpc-tune/reports/table"
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

// Every command has a description of its own, and an example of the same command; export lists its
// tables.
func TestCommandsAreDescribed(t *testing.T) {
	said := map[string]string{}
	for _, c := range commands(nil) {
		for _, text := range []string{c.Short, c.Long} {
			if of, met := said[text]; met && text != "" {
				t.Errorf("%s and %s: %q", c.Name(), of, text)
			}
			said[text] = c.Name()
		}
		if c.Short == "" || c.Example != "" && !strings.Contains(c.Example, "gpc-tune "+c.Name()) {
			t.Errorf("%s: %q, with the example %q", c.Name(), c.Short, c.Example)
		}
		for _, e := range table.Exported() {
			if c.Name() == "export" && !strings.Contains(c.Long, "\n  "+e.Name+": "+e.Doc) {
				t.Errorf("export does not list %s", e.Name)
			}
		}
	}
}

// groff accepts every page without a warning.
func TestManualPages(t *testing.T) {
	needs.Program(t, "groff", "groff")
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

// A page has the name, the options with their defaults, the commands below and related pages, as
// man(7) marks them, and nothing that is hidden.
func TestManualPage(t *testing.T) {
	root := &cobra.Command{Use: "tool", Short: "Do things"}
	do := &cobra.Command{Use: "do FILE", Short: "Do a thing", Long: "Do a thing.\n\nAs in:\n  tool do it\n\tor not\nand so on.", Example: "  tool do that",
		Run: func(*cobra.Command, []string) {}}
	do.Flags().IntP("number", "n", 3, "how `many` there are")
	do.Flags().Bool("fast", false, "be fast")
	do.Flags().String("where", "", "where to")
	do.Flags().Int("limit", 7, "the limit (default: the number of processors)")
	do.Flags().Duration("wait", 0, "how long")
	do.Flags().StringSlice("names", nil, "which")
	do.Flags().Bool("secret", true, "hidden")
	if err := do.Flags().MarkHidden("secret"); err != nil {
		t.Fatal(err)
	}
	do.AddCommand(&cobra.Command{Use: "again", Short: "Once more", Run: do.Run}, &cobra.Command{Use: "unseen", Hidden: true, Run: do.Run})
	root.AddCommand(do)
	page := func(c *cobra.Command) string {
		var out strings.Builder
		if err := writePage(&out, c); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	got := page(do)
	for _, part := range []string{
		".TH TOOL-DO 1 ", `"User Commands"` + "\n", "\n.SH NAME\ntool\\-do \\- Do a thing\n", "\n.SH SYNOPSIS\n.B tool do FILE\n[options]\n",
		"\n.SH DESCRIPTION\nDo a thing.\n.PP\nAs in:\n.RS 4\n.nf\ntool do it\nor not\n.fi\n.RE\nand so on.\n",
		"\n.SH COMMANDS\n.TP\n.B again\nOnce more\n.SH OPTIONS\n",
		"\n.TP\n\\fB\\-n\\fR, \\fB\\-\\-number\\fR \\fImany\\fR\nhow many there are (default 3)\n",
		"\n\\fB\\-\\-fast\\fR\nbe fast\n", "\n\\fB\\-\\-where\\fR \\fIstring\\fR\nwhere to\n", "\nthe limit (default: the number of processors)\n",
		"\n\\fB\\-\\-wait\\fR \\fIduration\\fR\nhow long\n", "\n\\fB\\-\\-names\\fR \\fIstrings\\fR\nwhich\n",
		"\n.SH EXAMPLES\n.RS 4\n.nf\ntool do that\n.fi\n.RE\n", "\n.SH EXIT STATUS\n.TP\n.B 0\n", "\n.SH SEE ALSO\n.BR tool (1),\n.BR tool\\-do\\-again (1)\n",
	} {
		if !strings.Contains(got, part) {
			t.Errorf("the page has no %q:\n%s", part, got)
		}
	}
	for _, part := range []string{"secret", "unseen"} {
		if strings.Contains(got, part) {
			t.Errorf("the page has %s, which is hidden", part)
		}
	}
	above := page(root)
	if !strings.Contains(above, "\n.SH DESCRIPTION\nDo things\n.SH COMMANDS\n.TP\n.B do\nDo a thing\n") || !strings.HasSuffix(above, "\n.SH SEE ALSO\n.BR tool\\-do (1)\n") {
		t.Error(above)
	}
	if leaf := page(do.Commands()[0]); strings.Contains(leaf, "COMMANDS") || strings.Contains(leaf, "EXAMPLES") {
		t.Error(leaf)
	}
}
