package figure

import (
	"strings"
	"testing"
)

// Only a fill and a stroke of the same points become one element. The one that comes first stays below the other.
func TestShorter(t *testing.T) {
	const fill, stroke = `style="fill:#FFFFFF" />`, `style="fill:none;stroke:#000000;stroke-width:2" />`
	for _, test := range []struct{ from, want string }{
		{`<path d="M1,2L3,4Z" ` + fill + "\n" + `<path d="M1,2L3,4Z" ` + stroke,
			`<path d="M1,2L3,4Z" style="fill:#FFFFFF;stroke:#000000;stroke-width:2"/>`},
		{`<path d="M1,2L3,4Z" ` + stroke + "\n" + `<path d="M1,2L3,4Z" ` + fill,
			`<path d="M1,2L3,4Z" style="fill:#FFFFFF;stroke:#000000;stroke-width:2;paint-order:stroke"/>`},
		{`<path d="M1,2L3,4Z" ` + stroke + "\n" + `<path d="M1,2L3,4Z"  />`, // the default is to fill in black
			`<path d="M1,2L3,4Z" style="stroke:#000000;stroke-width:2;paint-order:stroke"/>`},
		{`<path d="M7.6,2A2.6,2.6 0 1 1 2.4,2A2.6,2.6 0 1 1 7.6,2Z" ` + fill,
			`<path d="M7.6,2a2.6,2.6 0 1 1-5.2,0 2.6,2.6 0 1 1 5.2,0Z" ` + fill},
	} {
		if got := shorter(test.from); got != test.want {
			t.Errorf("%s\nbecomes\n%s\nwant\n%s", test.from, got, test.want)
		}
	}
	for _, kept := range []string{
		`<path d="M1,2L3,4Z" ` + fill + "\n" + `<path d="M1,2L3,5Z" ` + stroke,
		`<path d="M1,2L3,4Z" ` + stroke + "\n" + `<path d="M1,2L3,4Z" ` + strings.Replace(stroke, "000000", "FFFFFF", 1),
		`<path d="M1,2L3,4Z" ` + fill + "\n<g>\n" + `<path d="M1,2L3,4Z" ` + stroke,
		`<path d="M1,2A5,5 0 0 1 7,8" ` + stroke,
	} {
		if got := shorter(kept); got != kept {
			t.Errorf("%s\nbecomes\n%s", kept, got)
		}
	}
}
