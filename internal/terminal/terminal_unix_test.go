//go:build unix

package terminal

import (
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"
	"unicode"
)

// hostile are texts that shells and terminals may misinterpret.
var hostile = []string{
	"", "plain", "a b", "it's", `"$HOME"`, "`id`", "$(id)", "${IFS}", "a;b", "a&b", "a|b", "a>b", "*", "?", "[a]", "{a,b}", "~", "#", "!", "^", "=ls", `\`, `\n`, "-n",
	"a\nb", "\n", "END\ntouch injected\n", "a\r\nb", "\t", "\x1b[2J\x1b]0;title\a", "\x7f", "\x9b31m", "\u009b31m", "\u202egnp.exe", "\u2066", "\u2028", "\xff\xfe", "%s%d", "é", "\ufffd", "''", "$(printf '\\001')",
	"\x01'\x02", "ends\x1b\n", "{{.Command}}",
}

func FuzzCommandLine(f *testing.F) {
	for _, text := range hostile {
		f.Add(text, "after")
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		if strings.ContainsRune(a+b, 0) {
			return // no argument of a program can have a NUL
		}
		throughShell(t, a, b)
	})
}

// throughShell lets a shell split a command line into its arguments.
func throughShell(t *testing.T, args ...string) {
	t.Helper()
	line := CommandLine(append([]string{"printf", `%s\000`}, args...)...)
	if Printable(line) != line {
		t.Errorf("%q is not for a terminal", line)
	}
	c := exec.Command("sh", "-c", line)
	c.Dir = t.TempDir()
	out, err := c.CombinedOutput()
	if want := strings.Join(args, "\x00") + "\x00"; err != nil || string(out) != want {
		t.Errorf("%s\nof %q gives %q, %v", line, args, out, err)
	}
}

// A shell splits the command line into the original arguments, and the line is printable.
func TestCommandLinesGoThroughAShell(t *testing.T) {
	throughShell(t, hostile...)
	random := rand.New(rand.NewPCG(1, 2))
	var args []string
	for range 250 { // the shell starts a process for many of them
		arg := make([]byte, random.IntN(12))
		for i := range arg {
			arg[i] = byte(1 + random.IntN(255))
		}
		args = append(args, string(arg))
	}
	throughShell(t, args...)
}

// Only arguments that a shell would change are in quotes; zsh replaces =ls by the path of ls.
func TestPlainArguments(t *testing.T) {
	got := CommandLine("gpc-tune", "run", "größe_2.yaml", "-o", "./a+b", "--theta", "x=1e-3,%@:", "=ls", "", "a b")
	if want := "gpc-tune run größe_2.yaml -o ./a+b --theta x=1e-3,%@: '=ls' '' 'a b'"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

func TestPrintable(t *testing.T) {
	for text, want := range map[string]string{
		"a\tb\nc é 日本 👩‍🚀 ±…": "a\tb\nc é 日本 👩‍🚀 ±…", "\x1b[2J": `\x1b[2J`, "\x7f\x00": `\x7f\x00`, "\u009b": `\u009b`, "\x9b": `\x9b`, "a\rb": `a\x0db`,
		"\u202eabc\u2069": `\u202eabc\u2069`, "\u2028": `\u2028`, "\ufffd": "\ufffd", "\xc3(": `\xc3(`, "\xff": `\xff`, "\xe2\x82": `\xe2\x82`, "\u061c": `\u061c`,
	} {
		if got := Printable(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
	if got, want := OneLine("a\r\n\tb\u202e\x1b\xff"), `a\r\n\tb\u202e\x1b\xff`; got != want {
		t.Errorf("one line: %q, want %q", got, want)
	}
	for _, text := range hostile {
		got := Printable(text)
		if i := strings.IndexFunc(got, func(r rune) bool { return r != '\n' && r != '\t' && unicode.IsControl(r) }); i >= 0 {
			t.Errorf("%q has a control character", got)
		}
	}
}
