package tables

import (
	"fmt"
	"strings"
	"testing"
)

// A svmlight line of more than 2^24 bytes, here with a comment, is refused with its number.
func TestLongLineOfSVMLight(t *testing.T) {
	const fits = 1 << 24
	long := "1 1:0.5 #" + strings.Repeat("x", fits-9)
	for text, want := range map[string]string{
		"1 1:0.25\n" + long:       "",
		"1 1:0.25\n" + long + "x": fmt.Sprintf("f:2: has %d bytes, more than the %d that one line may have", fits+1, fits),
	} {
		read := Source{path: "f", text: text}.Read(Options{})
		if got := fmt.Sprint(read.Faults.Err()); read.Form != "svmlight" || !strings.HasPrefix(got, want) || want == "" && read.Rows == nil {
			t.Errorf("%s: %s, want %s", read.Form, got, want)
		}
	}
}
