package page

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/internal/panicked"
	"github.com/gpc-tune/gpc-tune/reports"
)

// The files are the files of every run, the files of the formats that are asked for, and the files
// that these refer to.
func TestFilesOf(t *testing.T) {
	for asked, want := range map[string]string{
		"": "json csv", "text": "json csv", "csv": "json csv", "predictions": "json csv predictions",
		"html": "json csv trials html", "svg markdown": "json csv trials svg markdown", "latex": "json csv latex",
	} {
		var got []string
		for _, f := range FilesOf(strings.Fields(asked)) {
			got = append(got, f.Name)
		}
		if !slices.Equal(got, strings.Fields(want)) {
			t.Errorf("%q: %q, want %s", asked, got, want)
		}
	}
}

// A format of another program is one of the formats, and its panic an error that names it; a format
// without a doc, a function or a name of its own is refused.
func TestRegister(t *testing.T) {
	defer func(before []Format) { Formats = before }(Formats)
	Formats = slices.Clone(Formats)
	render := func(io.Writer, *reports.Report) error { panic("no ink") }
	Register(Format{Name: "blank", Doc: "it panics", File: "blank.txt", Render: render})
	f, err := FormatNamed("blank")
	if err != nil {
		t.Fatal(err)
	}
	files := f.Files(new(reports.Report))
	if len(files) != 1 || files[0].Name != "blank.txt" {
		t.Fatalf("files %+v", files)
	}
	if err := files[0].Write(io.Discard); err == nil || !strings.HasPrefix(err.Error(), "format blank: panic: no ink") {
		t.Error(err)
	}
	for _, c := range []struct {
		format Format
		want   string
	}{
		{Format{Name: "other", Render: render}, `format "other" needs a doc and a function that writes it`},
		{Format{Name: "other", Doc: "d"}, `format "other" needs a doc and a function that writes it`},
		{Format{Name: "blank", Doc: "d", Render: render}, `format "blank": the name is taken`},
		{Format{Name: "Other", Doc: "d", Render: render}, `format "Other": a name is written in lower-case letters`},
	} {
		if err := panicked.Try(func() { Register(c.format) }); err == nil || !strings.Contains(fmt.Sprint(err), c.want) {
			t.Errorf("%+v: %v, want %s", c.format.Name, err, c.want)
		}
	}
}
