package table

import (
	"bytes"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/reporttest"
)

// A name with control characters does not add lines to the text of a report.
func TestTextsKeepToTheirLines(t *testing.T) {
	name := "F\nresults: done\t\x1b[1m"
	for _, write := range []func(*bytes.Buffer) error{
		func(b *bytes.Buffer) error {
			return Text(b, &reports.Report{Experiment: "x", Warnings: []reports.Notice{{Text: name}}, Configurations: []reports.Configuration{{Dataset: name, Label: record.Label{Kernel: reporttest.Declared(name)}, Warnings: []reports.Notice{{Text: name}}}}})
		},
		func(b *bytes.Buffer) error {
			return shownText(b, &reports.Shown{Experiment: "x", Configurations: []reports.ShownConfiguration{{Configuration: reports.Configuration{Dataset: name, Classes: []string{name}, Warnings: []reports.Notice{{Text: name}}, Failures: []reports.Failure{{Message: name}}}}}})
		},
	} {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(b.String(), "\nresults") || !strings.Contains(b.String(), `F\nresults: done\t`) {
			t.Errorf("%q", &b)
		}
	}
}
