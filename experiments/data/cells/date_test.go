package cells

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// Each text is the same moment in all of these forms, and in no other.
func TestParseDate(t *testing.T) {
	for text, of := range map[string]struct{ forms, want string }{
		"2024-12-31":                     {"ymd dmy mdy", "2024-12-31T00:00:00"},
		"2024/12/31":                     {"ymd dmy mdy", "2024-12-31T00:00:00"},
		"2024-12-31T14:30:05Z":           {"ymd dmy mdy", "2024-12-31T14:30:05"},
		"2024-12-31T14:30:05.25+02:00":   {"ymd dmy mdy", "2024-12-31T14:30:05.25"},
		"2024-12-31 14:30":               {"ymd dmy mdy", "2024-12-31T14:30:00"},
		"2024-12-31 14:30:05 UTC":        {"ymd dmy mdy", "2024-12-31T14:30:05"},
		"2024-2-9":                       {"ymd dmy mdy", "2024-02-09T00:00:00"},
		"2024-12":                        {"ymd dmy mdy", "2024-12-01T00:00:00"},
		"12/2024":                        {"ymd dmy mdy", "2024-12-01T00:00:00"},
		"20241231":                       {"ymd", "2024-12-31T00:00:00"},
		"20241231T143005Z":               {"ymd", "2024-12-31T14:30:05"},
		"31122024":                       {"dmy", "2024-12-31T00:00:00"},
		"31.12.2024":                     {"dmy", "2024-12-31T00:00:00"},
		"31. 12. 2024 9:05":              {"dmy", "2024-12-31T09:05:00"},
		"31/12/2024":                     {"dmy", "2024-12-31T00:00:00"},
		"31-12-2024 23:59:59":            {"dmy", "2024-12-31T23:59:59"},
		"12/31/2024":                     {"mdy", "2024-12-31T00:00:00"},
		"12/31/24 2:30 PM":               {"mdy", "2024-12-31T14:30:00"},
		"12/31/2024, 12:05:00 a.m.":      {"mdy", "2024-12-31T00:05:00"},
		"5/5/68":                         {"dmy mdy", "2068-05-05T00:00:00"},
		"5/5/69":                         {"dmy mdy", "1969-05-05T00:00:00"},
		"31 Dec 2024":                    {"ymd dmy mdy", "2024-12-31T00:00:00"},
		"31-Dec-24":                      {"ymd dmy mdy", "2024-12-31T00:00:00"},
		"Dec 31, 2024":                   {"ymd dmy mdy", "2024-12-31T00:00:00"},
		"December 31st, 2024 2 pm":       {"ymd dmy mdy", "2024-12-31T14:00:00"},
		"Tue, 31 Dec 2024 14:30:05 GMT":  {"ymd dmy mdy", "2024-12-31T14:30:05"},
		"[31/Dec/2024:14:30:05 -0700]":   {"ymd dmy mdy", "2024-12-31T14:30:05"},
		"5. März 2024":                   {"ymd dmy mdy", "2024-03-05T00:00:00"},
		"5 août 2024":                    {"ymd dmy mdy", "2024-08-05T00:00:00"},
		"5 de enero de 2024":             {"ymd dmy mdy", "2024-01-05T00:00:00"},
		"Mar 2024":                       {"ymd dmy mdy", "2024-03-01T00:00:00"},
		"2024年12月31日":                    {"ymd dmy mdy", "2024-12-31T00:00:00"},
		"29.02.2024":                     {"dmy", "2024-02-29T00:00:00"},
		"14:30":                          {"time", "1970-01-01T14:30:00"},
		"14:30:05":                       {"time", "1970-01-01T14:30:05"},
		"2:30 PM":                        {"time", "1970-01-01T14:30:00"},
		"12 am":                          {"time", "1970-01-01T00:00:00"},
		"29.02.2023":                     {},
		"-2024-12-31":                    {},
		"0000-00-00":                     {},
		"2024-13-01":                     {},
		"24:00":                          {},
		"14:60":                          {},
		"13 pm":                          {},
		"1.2.3":                          {},
		"192.168.1.10":                   {},
		"555-12-3456":                    {},
		"12-31/2024":                     {},
		"Dec 31":                         {},
		"31 Dec Dec 2024":                {},
		"2024":                           {},
		"12":                             {},
		"yesterday":                      {},
		"2024-12-31 14:30 or later":      {},
		"2024-12-31-01":                  {},
		strings.Repeat("1", 41):          {},
		"31.12.2024 " + "14:30:05 9 9 9": {},
	} {
		for _, form := range Form("").Names() {
			at, _, ok := ParseDate(text, Form(form))
			want := slices.Contains(strings.Fields(of.forms), form)
			if ok != want || ok && at.Format("2006-01-02T15:04:05.999") != of.want {
				t.Errorf("%q as %s: %v, %v; want %s, %v", text, form, at, ok, of.want, want)
			}
		}
	}
}

// Any text is a date of the calendar or none, and a date is read as it is written.
func FuzzParseDate(f *testing.F) {
	for _, text := range []string{"31.12.2024 14:30", "Dec 31, 2024", "2:30 pm", "20241231", "[31/Dec/2024:14:30:05 -0700]"} {
		f.Add(text)
	}
	layouts := map[Form][]string{YMD: {"2006-01-02 15:04:05", "20060102T150405", "2006/1/2T15:04:05Z07:00"},
		DMY: {"02.01.2006 15:04:05", "2 January 2006, 15:04:05", "2/1/2006 3:04:05 PM"},
		MDY: {"1/2/2006 3:04:05 pm", "Jan 2, 2006 15:04:05"}, Clock: {"15:04:05", "3:04:05 PM"}}
	f.Fuzz(func(t *testing.T, text string) {
		for form, all := range layouts {
			at, _, ok := ParseDate(text, form)
			if !ok {
				continue
			}
			if at.Year() < 1 || at.Year() > 9999 {
				t.Fatalf("%q as %s: year %d", text, form, at.Year())
			}
			if back := timeOf(secondsOf(at)); back.Sub(at).Abs() > time.Millisecond {
				t.Fatalf("%q: %v after seconds %v", text, back, at)
			}
			for _, layout := range all {
				written := at.Format(layout)
				if again, _, ok := ParseDate(written, form); !ok || !again.Equal(at.Truncate(time.Second)) {
					t.Fatalf("%q as %s: %v, %v; want %v", written, form, again, ok, at)
				}
			}
		}
	})
}

// The time that reading one date takes.
func BenchmarkParseDate(b *testing.B) {
	for _, text := range []string{"2024-12-31 14:30:05", "31.12.2024", "Dec 31, 2024 2:30 pm"} {
		b.Run(text, func(b *testing.B) {
			for b.Loop() {
				ParseDate(text, YMD)
			}
		})
	}
}
