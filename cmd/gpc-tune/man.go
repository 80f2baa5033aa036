package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gpc-tune/gpc-tune/experiments"
	"github.com/gpc-tune/gpc-tune/internal/atomicfile"
	"github.com/gpc-tune/gpc-tune/internal/build"
	"github.com/gpc-tune/gpc-tune/internal/registry"
)

func manCommand() *cobra.Command {
	var dir string
	c := &cobra.Command{
		Use:   "man [COMMAND]",
		Short: "Print a manual page, or write the pages of all commands to a folder",
		Long: `Print the manual page of gpc-tune or of one of its commands, in the format of man. With -o the pages
of all commands are written to a folder: gpc-tune.1, gpc-tune-run.1 and so on.`,
		Example: "  gpc-tune man run | man -l -\n  gpc-tune man -o ~/.local/share/man/man1",
		ValidArgsFunction: func(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			above, _, _ := c.Root().Find(args)
			return below(above), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(c *cobra.Command, args []string) error {
			if dir != "" {
				return writePages(c, dir)
			}
			of, rest, err := c.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return usage("gpc-tune has no command %q%s", strings.Join(args, " "),
					registry.Suggest(args[0], below(c.Root())))
			}
			return writePage(c.OutOrStdout(), of)
		},
	}
	c.Flags().StringVarP(&dir, "output", "o", "", "folder to write all pages to")
	return c
}

// below lists the commands below c that have a page.
func below(c *cobra.Command) (names []string) {
	for _, of := range c.Commands() {
		if of.IsAvailableCommand() {
			names = append(names, of.Name())
		}
	}
	return names
}

// writePages writes the pages of all commands to a folder, and prints the names of the files.
func writePages(c *cobra.Command, dir string) error {
	var write func(of *cobra.Command) error
	write = func(of *cobra.Command) error {
		name := filepath.Join(dir, pageName(of)+".1")
		if err := atomicfile.Write(name, func(w io.Writer) error { return writePage(w, of) }); err != nil {
			return err
		}
		fmt.Fprintln(c.OutOrStdout(), name)
		for _, next := range of.Commands() {
			if next.IsAvailableCommand() {
				if err := write(next); err != nil {
					return err
				}
			}
		}
		return nil
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("%w: %w", experiments.ErrFolder, err)
	}
	return write(c.Root())
}

// pageName is the name of the page of c: gpc-tune-submit-slurm.
func pageName(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") }

// writePage writes the manual page of c from its help, with the macros of man(7).
func writePage(w io.Writer, c *cobra.Command) error {
	c.InitDefaultHelpFlag()
	var p manual
	_, committed, _ := build.Commit()
	date, _, _ := strings.Cut(committed, "T")
	p.line(".TH %s 1 %q %q %q", strings.ToUpper(pageName(c)), date, "gpc-tune "+build.Version(), "User Commands")
	p.line(".SH NAME\n%s \\- %s", roff(pageName(c)), roff(c.Short))
	p.line(".SH SYNOPSIS\n.B %s", roff(strings.TrimSuffix(c.UseLine(), " [flags]")))
	if c.HasAvailableFlags() {
		p.line("[options]")
	}
	p.line(".SH DESCRIPTION")
	p.text(cmp.Or(c.Long, c.Short))
	if len(below(c)) > 0 {
		p.line(".SH COMMANDS")
	}
	for _, of := range c.Commands() {
		if of.IsAvailableCommand() {
			p.line(".TP\n.B %s\n%s", roff(of.Name()), roff(of.Short))
		}
	}
	p.line(".SH OPTIONS")
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			p.option(f)
		}
	})
	if c.HasExample() {
		p.line(".SH EXAMPLES")
		p.text(c.Example)
	}
	p.line(".SH EXIT STATUS")
	for _, e := range exitCodes {
		p.line(".TP\n.B %d\n%s", e.code, roff(strings.TrimSuffix(e.meaning+": "+e.remedy, ": ")))
	}
	p.line(".SH SEE ALSO")
	var pages []string
	if c.HasParent() {
		pages = append(pages, pageName(c.Parent()))
	}
	for _, name := range below(c) {
		pages = append(pages, pageName(c)+"-"+name)
	}
	p.line(".BR %s (1)", roff(strings.Join(pages, " (1),\n.BR ")))
	_, err := io.WriteString(w, p.String())
	return err
}

// manual collects the text of a manual page.
type manual struct{ strings.Builder }

func (p *manual) line(format string, args ...any) { fmt.Fprintf(p, format+"\n", args...) }

// text writes paragraphs, separated by empty lines. Indented lines are kept as they are.
func (p *manual) text(text string) {
	for k, paragraph := range strings.Split(strings.Trim(text, "\n"), "\n\n") {
		if k > 0 {
			p.line(".PP")
		}
		literal := false
		for _, line := range strings.Split(paragraph, "\n") {
			if rest, tab := strings.CutPrefix(line, "\t"); tab {
				line = "  " + rest
			}
			if indented := strings.HasPrefix(line, "  "); indented != literal {
				literal = indented
				p.line("%s", map[bool]string{true: ".RS 4\n.nf", false: ".fi\n.RE"}[literal])
			}
			p.line("%s", roff(strings.TrimPrefix(line, "  ")))
		}
		if literal {
			p.line(".fi\n.RE")
		}
	}
}

// option writes a flag with its default.
func (p *manual) option(f *pflag.Flag) {
	value, text := pflag.UnquoteUsage(f)
	names := "\\fB" + roff("--"+f.Name) + "\\fR"
	if f.Shorthand != "" {
		names = "\\fB" + roff("-"+f.Shorthand) + "\\fR, " + names
	}
	if value != "" {
		names += " \\fI" + roff(value) + "\\fR"
	}
	switch f.DefValue {
	case "", "false", "0", "0s", "[]":
	default:
		if !strings.Contains(text, "(default") {
			text += fmt.Sprintf(" (default %s)", f.DefValue)
		}
	}
	p.line(".TP\n%s\n%s", names, roff(text))
}

// roff escapes text for a page: ASCII, without instructions. Hyphens and quotes are unchanged when
// copied from the page.
func roff(text string) string {
	var out strings.Builder
	if strings.HasPrefix(text, ".") {
		out.WriteString(`\&`)
	}
	for _, r := range text {
		if special, is := specials[r]; is {
			out.WriteString(special)
		} else if r < utf8.RuneSelf {
			out.WriteRune(r)
		} else {
			fmt.Fprintf(&out, `\[u%04X]`, r)
		}
	}
	return out.String()
}

var specials = map[rune]string{'\\': `\e`, '-': `\-`, '\'': `\(aq`, '`': `\(ga`, '^': `\(ha`, '~': `\(ti`}
