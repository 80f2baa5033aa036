package catalogue

import (
	"fmt"
	"io"
	"strings"
)

// writeNames writes docs/names.md: every name that a file can use, kind by kind, and the tables of
// pairs. The gallery has a page of its own.
func writeNames(w io.Writer) error {
	var text strings.Builder
	text.WriteString("# Names\n\nEvery name that an [experiment's file](file.md) can have, as `gpc-tune list` " +
		"prints them. `gpc-tune explain NAME`\nshows its options, defaults and bounds. Published experiments are " +
		"in the [gallery](gallery.md). This page is made by\n`go test ./experiments/catalogue -update`.\n")
	cell := strings.NewReplacer("|", `\|`, "*", `\*`, "<", `\<`).Replace
	for _, k := range All() {
		switch k.Name {
		case "gallery":
			continue
		case "pairs":
			text.WriteString("\n## pairs\n\n" + k.Note)
			continue
		}
		fmt.Fprintf(&text, "\n## %s\n\n| name | what it is |\n| --- | --- |\n", k.Name)
		for _, e := range k.Entries {
			fmt.Fprintf(&text, "| `%s` | %s |\n", e.Name, cell(e.Doc))
		}
		if k.Note != "" {
			fmt.Fprintf(&text, "\n%s.\n", strings.TrimSuffix(cell(strings.TrimSpace(k.Note)), "."))
		}
	}
	_, err := io.WriteString(w, text.String())
	return err
}
