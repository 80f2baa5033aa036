package columns

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gpc-tune/gpc-tune/experiments/data"
)

// init proposes three things for dates: parts that vary and do not only number the rows; the days
// between two dates; and the order of day and month. A column without a number above 12 takes this
// order from another column.
func TestDatesProposed(t *testing.T) {
	day := func(i int) time.Time { return time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, i*37%300) }
	for name, of := range map[string]struct {
		head string
		line func(i int) string
		want map[string]string // the date, and what is said of it
	}{
		"a day": {"a", func(i int) string { return day(i).Format("02.01.2006") },
			map[string]string{"a": "dmy [month weekday]  dates, 2024-01-01 to 2024-10-23"}},
		"years": {"a", func(i int) string { return fmt.Sprintf("%d-03-04", 1990+i%7) },
			map[string]string{"a": "ymd [year weekday]  dates, 1990-03-04 to 1996-03-04"}},
		"a birth": {"date_of_birth", func(i int) string { return fmt.Sprintf("%d-0%d-04", 1990+i%7, 1+i%9) },
			map[string]string{"date_of_birth": "ymd [year]  dates, 1990-01-04 to 1996-08-04"}},
		"with a time": {"a", func(i int) string { return day(i).Format("02.01.2006") + fmt.Sprintf(" %d:15", i%24) },
			map[string]string{"a": "dmy [month weekday hour]  "}},
		"the first of months": {"a", func(i int) string { return fmt.Sprintf("%d/1/2024", 1+i*5%12) },
			map[string]string{"a": "mdy [month weekday]  ; form mdy is a guess, for dmy fits as well"}},
		"low numbers": {"a", func(i int) string { return fmt.Sprintf("%d.%d.2024", 1+i*7%12, 1+i*5%11) },
			map[string]string{"a": "dmy [month weekday]  ; form dmy is a guess, for mdy fits as well"}},
		"as in another": {"a,b", func(i int) string {
			return fmt.Sprintf("%d/%d/2024,%s", 1+i*7%12, 1+i*5%11, day(i).Format("02/01/2006"))
		},
			map[string]string{"a": "dmy [weekday] b  left out, for nearly the same in b: month", "b": "dmy [month weekday]  dates, 2024-01-01 to 2024-10-23"}},
		"stamps": {"a", func(i int) string { return day(0).Add(time.Duration(i) * 13 * time.Hour).Format(time.RFC3339) },
			map[string]string{"a": "ymd [weekday hour]  ; they rise from row to row, and month would number the rows"}},
		"days in a row": {"a", func(i int) string { return day(0).AddDate(0, 0, i/7).Format(time.DateOnly) },
			map[string]string{"a": "left out  they rise from row to row, and weekday would number the rows: left out"}},
		"two": {"out,in", func(i int) string {
			return day(i).AddDate(0, 0, i%5).Format(time.DateOnly) + "," + day(i).Format(time.DateOnly)
		}, map[string]string{"in": "ymd [month weekday]  ", "out": "ymd [weekday] in  ; left out, for nearly the same in in: month"}},
		"two in a row": {"in,out", func(i int) string {
			return day(0).AddDate(0, 0, i/10).Format(time.DateOnly) + "," + day(0).AddDate(0, 0, i/10+i%5).Format(time.DateOnly)
		}, map[string]string{"in": "ymd []  ", "out": "ymd [weekday] in  "}},
		"times": {"a", func(i int) string { return fmt.Sprintf("%d:%02d %s", 1+i%12, i, []string{"AM", "PM"}[i%2]) },
			map[string]string{"a": "time [hour]  times of the day, 01:00 to 22:57"}},
		"a few are none": {"a", func(i int) string {
			if i == 7 {
				return "0000-00-00"
			} else if i%11 == 3 {
				return "n/a"
			}
			return day(i).Format(time.DateOnly)
		}, map[string]string{"a": "ymd [month weekday]  "}},
		"versions":  {"a", func(i int) string { return fmt.Sprintf("1.%d.%d", i%20, i%3) }, map[string]string{"a": ""}},
		"addresses": {"a", func(i int) string { return fmt.Sprintf("10.0.%d.%d", i%20, i%3) }, map[string]string{"a": ""}},
	} {
		table, err := Read(file(t, rows(60, of.head+",x,label", func(i int) string {
			return fmt.Sprintf("%s,%g,%s", of.line(i), 0.25*float64(i*i%59), []string{"p", "q"}[i*i%3%2])
		})), "")
		if err != nil {
			t.Fatal(name, err)
		}
		for _, c := range table.Columns {
			want, is := of.want[c.Name]
			switch got := "left out " + c.Found; {
			case !is:
			case want == "":
				if c.Date != nil || c.Kind == date.Name {
					t.Errorf("%s: %+v is no date", name, c)
				}
			default:
				if c.Date != nil {
					got = fmt.Sprintf("%s %s %s %s", c.Date.Form, c.Date.Parts, c.Date.Since, c.Found)
				}
				head, tail, _ := strings.Cut(want, "  ")
				if !strings.HasPrefix(got, head) || !strings.Contains(got, tail) {
					t.Errorf("%s, %s: %q, want %q", name, c.Name, got, want)
				}
			}
		}
		d, err := data.Load(table.Spec, ".", 0)
		if err != nil {
			t.Errorf("%s: %v\n%+v", name, err, table.Spec)
			continue
		}
		if n := len(d.ColumnNames); n != table.Inputs() {
			t.Errorf("%s: %d inputs, want %d", name, table.Inputs(), n)
		}
	}
}
