package page_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/internal/testing/exhaustive"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/page"
	"github.com/gpc-tune/gpc-tune/reports/reporttest"
)

// hashed is pseudo-random noise of a case and a configuration, between -1 and 1.
func hashed(i, k int) float64 {
	x := math.Sin(float64(12*i+78*k)+0.5) * 43758.5453
	return 2*(x-math.Floor(x)) - 1
}

// JSON, text, Markdown and the page name the same set of up to 500 configurations over three folds.
// An interval of the JSON file contains 0 if its configuration is in the set; it may also contain 0 where another one than
// the best is better.
func TestVerdictAgrees(t *testing.T) {
	for _, number := range []int{12, 40, 500}[:exhaustive.Of(2, 3)] {
		var bits []func(int) float64
		for k := range number {
			mean := 0.5 - 1.5*float64((k*7)%number)/float64(number)
			bits = append(bits, func(i int) float64 { return min(0.99, mean+0.5*hashed(i, k)+0.3*hashed(i, -1)) })
		}
		m, lines := reporttest.Held(90, bits...)
		r := reporttest.Build(t, m, lines)
		var written bytes.Buffer
		if err := reports.WriteJSON(&written, r); err != nil {
			t.Fatal(err)
		}
		var results struct {
			Answer struct {
				Configuration int
				Set           []int
				Corrected     *float64
				Skill         struct{ Known, Better bool }
				Rivals        []struct {
					Configuration int
					Low, High     *float64
					P             *float64
					InSet         bool `json:"in_set"`
				}
			}
		}
		if err := json.Unmarshal(written.Bytes(), &results); err != nil {
			t.Fatal(err)
		}
		a := results.Answer
		set := []int{a.Configuration}
		for _, v := range a.Rivals {
			if v.InSet && !(*v.Low <= 0 && 0 <= *v.High) || v.InSet != (*v.P > 0.05) {
				t.Errorf("#%d: in the set %v, interval %v to %v, p %v", v.Configuration, v.InSet, *v.Low, *v.High, *v.P)
			}
			if v.InSet {
				set = append(set, v.Configuration)
			}
		}
		if !slices.Equal(set, a.Set) || len(set) < 2 || len(set) == number || a.Corrected == nil || !a.Skill.Better {
			t.Errorf("set %v, of the rivals %v; corrected %v, skill %+v", a.Set, set, a.Corrected, a.Skill)
		}
		for name, row := range map[string]string{"text": `(?m)^ *(\d+) +(best|in the set)  `,
			"markdown": `(?m)^\| (\d+) \|.*?\| (best|in the set) \|`, "html": `>(\d+)(?:</a>)?</td>.*?<td class="minor">(best|in the set)</td>`} {
			f, err := page.FormatNamed(name)
			if err != nil {
				t.Fatal(err)
			}
			var text bytes.Buffer
			if err := f.Render(&text, r); err != nil {
				t.Fatal(err)
			}
			results, differences, found := strings.Cut(text.String(), "differences from #")
			var got []int
			for _, match := range regexp.MustCompile(row).FindAllStringSubmatch(results, -1) {
				k, _ := strconv.Atoi(match[1])
				got = append(got, k)
			}
			if !found || !slices.Equal(got, set) {
				t.Errorf("%d configurations, %s: rows in the set %v, want %v", number, name, got, set)
			}
			verdicts := regexp.MustCompile(`[^t] in the set|\| in the set|<td>in the set`)
			if in := len(verdicts.FindAllString(differences, -1)); in != len(set)-1 && name != "html" {
				t.Errorf("%d configurations, %s: %d differences in the set, want %d", number, name, in, len(set)-1)
			}
			said := fmt.Sprintf("%d of %d may be the best, at 95 %%: #%d", len(set), number, set[0])
			if !strings.Contains(results, said) {
				t.Errorf("%s does not say %q", name, said)
			}
		}
	}
}
