package terminal

import (
	"regexp"
	"strings"
	"sync"
)

// name is the program's name in texts.
const name = "gpc-tune"

// program has the arguments of StartedAs; before that it is zero.
var program struct {
	start string // begins a command line that the user can copy
	lines func() commandLines
}

// commandLines are patterns of command lines in texts.
type commandLines struct {
	command *regexp.Regexp // matches the name with a command after it
	atEnd   *regexp.Regexp // matches a command line from a colon to the end of a line
}

// StartedAs sets how the user starts the program, such as go run ./cmd/gpc-tune, and a function
// that returns the names of its commands, which only long texts need. It is called once, before any
// other function of this package.
func StartedAs(start string, commands func() []string) {
	program.start = start
	program.lines = sync.OnceValue(func() commandLines {
		names := ` (?:` + strings.Join(commands(), "|") + `)\b`
		return commandLines{
			regexp.MustCompile(`(^|[^\w./-])` + name + `(` + names + `)`),
			regexp.MustCompile(`: (?:` + regexp.QuoteMeta(start) + `|` + name + `)` + names + `[^;]*$`),
		}
	})
}

// Commands returns the text with the beginning of the program's command lines as the user types it.
func Commands(text string) string {
	if program.start == "" || program.start == name {
		return text
	}
	return program.lines().command.ReplaceAllString(text, "${1}"+strings.ReplaceAll(program.start, "$", "$$")+"${2}")
}

// lastCommand is the index of the command line with which a line ends, after a colon; 0: it ends
// with none.
func lastCommand(line string) int {
	if program.lines == nil {
		return 0
	}
	if found := program.lines().atEnd.FindStringIndex(line); found != nil {
		return found[0] + len(": ")
	}
	return 0
}
