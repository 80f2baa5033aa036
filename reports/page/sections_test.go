package page

import (
	"bytes"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/reporttest"
	"github.com/gpc-tune/gpc-tune/reports/table"
)

// A function and its row in Sections are enough for a table in every output, whether it is of the run or
// of each configuration.
func TestOneRowIsATableEverywhere(t *testing.T) {
	before := table.Sections
	defer func() { table.Sections = before }()
	fresh := func(name string) table.Table {
		t := table.Table{Columns: table.Columns(name, "95 % interval", "remark")}
		t.Add(reports.Number(0.123456789), table.Interval{0.0625, 0.5}, "wholly new")
		t.Add(2, nil, "second")
		return t
	}
	table.Sections = append(before[:len(before):len(before)],
		table.Section{Name: "new_results", Doc: "d", Chapter: "New", Results: true, Run: func(*reports.Report) []table.Table { return []table.Table{fresh("ofrun")} }},
		table.Section{Name: "new_details", Doc: "d", Each: func(reports.Configuration) []table.Table { return []table.Table{fresh("ofconf")} }})
	m, lines := reporttest.Run(t)
	r := reporttest.Build(t, m, lines)
	of := map[string]string{}
	for _, format := range []string{"text", "html", "markdown", "latex"} {
		of[format] = string(Render(t, format, r))
	}
	shown, err := r.Show(-1, -1)
	if err != nil {
		t.Fatal(err)
	}
	var show bytes.Buffer
	if err := table.ShownForms[0].Render(&show, shown); err != nil {
		t.Fatal(err)
	}
	of["show"] = show.String()
	for format, text := range of {
		want := map[string]int{"ofrun": 1, "ofconf": len(r.Configurations)}
		if format == "latex" {
			want["ofconf"] = 0 // the paper has only the results
		}
		for name, n := range want {
			if got := strings.Count(text, name); got != n {
				t.Errorf("%s has the table %s %d times, want %d", format, name, got, n)
			}
		}
		if !strings.Contains(text, "wholly new") || !strings.Contains(text, "0.123") {
			t.Errorf("%s lacks cells:\n%s", format, text)
		}
	}
	for name, want := range map[string][2]string{
		"new_results": {"ofrun,ofrun_lo,ofrun_hi,remark\n0.123456789,0.0625,0.5,wholly new\n2,,,second\n",
			`[` + "\n" + `{"ofrun":0.123456789,"ofrun_lo":0.0625,"ofrun_hi":0.5,"remark":"wholly new"},` + "\n"},
		"new_details": {"configuration,ofconf,ofconf_lo,ofconf_hi,remark\n0,0.123456789,0.0625,0.5,wholly new\n0,2,,,second\n1,0.123456789,",
			`[` + "\n" + `{"configuration":0,"ofconf":0.123456789,`},
	} {
		s, err := table.ExportNamed(name)
		if err != nil {
			t.Fatal(err)
		}
		for i, form := range table.DataForms {
			var out bytes.Buffer
			if err := form.Render(&out, s.Export(r)); err != nil || !strings.HasPrefix(out.String(), want[i]) {
				t.Errorf("%s %s: %v\n%s", name, form.Name, err, &out)
			}
		}
	}
}
