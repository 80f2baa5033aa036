package main

import (
	"strings"
	"testing"
	"time"
)

// The rows of a long table of explanations are counted, without the line of names, and not at every
// row.
func TestExplainedCases(t *testing.T) {
	var out, messages strings.Builder
	w := &explainedCases{Writer: &out, messages: &messages}
	for _, text := range []string{"case,base\n", "0,0.5\n1,0.25\n", "2,0.5\n"} {
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		w.last = map[bool]time.Time{true: {}, false: w.last}[w.lines == 1]
	}
	if got := messages.String(); got != "explained 0 cases\nexplained 2 cases\n" {
		t.Error(got)
	}
	if got := out.String(); got != "case,base\n0,0.5\n1,0.25\n2,0.5\n" {
		t.Error(got)
	}
}
