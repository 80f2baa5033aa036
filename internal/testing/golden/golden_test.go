package golden

import (
	"fmt"
	"strings"
	"testing"
)

// failures records the messages of a test.
type failures struct {
	testing.TB
	said string
}

func (f *failures) Helper()                           {}
func (f *failures) Errorf(format string, args ...any) { f.said += fmt.Sprintf(format, args...) }

func TestEqual(t *testing.T) {
	long := strings.Repeat("x", 2*shown)
	for _, c := range []struct{ got, want, said string }{
		{"a\nb\n", "a\nb\n", ""},
		{"a\nc\n", "a\nb\n", "page:\ndiff want got\n--- want\n+++ got\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n"},
		{"", "a\n", "-a\n"},
		{long, "a\n", "x\n… and more"},
	} {
		f := &failures{TB: t}
		if equal := Equal(f, "page", []byte(c.got), c.want); equal != (c.said == "") || !strings.HasSuffix(f.said, c.said) {
			t.Errorf("%t, %q, want %q", equal, f.said, c.said)
		}
	}
}
