package reports_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/reporttest"
)

// Whatever the names and texts in a journal are, its warnings and failures have the same causes: a
// class, a column, a kernel or a text named as another cause changes nothing.
func TestCausesDoNotDependOnWords(t *testing.T) {
	kinds := cause.Kind("").JSONSchema()["enum"].([]cause.Kind)
	words := []string{"failed", "not converged", "ended at its upper bound", "panic: out of memory", "timed out", "singular", "NaN"}
	for seed := range uint64(50) {
		var told [2][]string
		for k := range told {
			r := rand.New(rand.NewPCG(seed, 1))
			other := rand.New(rand.NewPCG(seed, 2))
			word := func(text string) string {
				if k == 1 {
					return fmt.Sprint(words[other.IntN(len(words))], " ", text)
				}
				return text
			}
			notice := func() cause.Notice {
				i := r.IntN(1000)
				return kinds[r.IntN(len(kinds))].New("%s", word(fmt.Sprint("text ", i))).In(word(fmt.Sprint("place ", i)))
			}
			m, lines := reporttest.Run(t)
			m.Experiment, m.Warnings = word("toy"), append(m.Warnings, notice(), notice())
			for i := range m.Configurations {
				c := &m.Configurations[i]
				c.Dataset, c.Kernel, c.Classes = word("d"), record.Plain(word("se")), []string{word("F"), word("M")}
				for j := range c.Hyperparameters {
					c.Hyperparameters[j].Name = word(c.Hyperparameters[j].Name)
				}
			}
			for _, l := range lines {
				if l.Trial != nil && !l.Trial.Failure.IsZero() {
					l.Trial.Failure = notice()
				} else if l.Trial != nil {
					l.Trial.Warnings = append(l.Trial.Warnings, notice())
				}
				if l.Fit != nil && !l.Fit.Failure.IsZero() {
					l.Fit.Failure = notice()
				} else if l.Fit != nil {
					l.Fit.Warnings = []cause.Notice{notice(), notice()}
				}
			}
			told[k] = causesOf(reporttest.Build(t, m, lines))
		}
		if len(told[0]) < 8 || !slices.Equal(told[0], told[1]) {
			t.Fatalf("causes\n%s\nwith other words\n%s", strings.Join(told[0], "\n"), strings.Join(told[1], "\n"))
		}
	}
}

// causesOf lists all causes of a report, as they are grouped.
func causesOf(r *reports.Report) (out []string) {
	for k, causes := range [][]reports.Cause{r.WarningCauses(), r.FailureCauses()} {
		for _, c := range causes {
			out = append(out, fmt.Sprint(k, c.Cause, c.Meaning, c.Remedy, c.Note, c.Count))
		}
	}
	for _, trust := range r.Answer.Trust {
		out = append(out, trust.Cause)
	}
	return out
}

// The kind and the parts of a notice are kept by the journal; a kind that there is not is refused.
func TestNoticesInTheJournal(t *testing.T) {
	want := record.Fit{Failure: cause.NotConverged.New("ep stopped").In("restart"), Warnings: []cause.Notice{cause.Dropped.Of(3, "gone")}}
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got record.Fit
	if err := json.Unmarshal(text, &got); err != nil || got.Failure != want.Failure || !slices.Equal(got.Warnings, want.Warnings) {
		t.Errorf("%s is read as %+v, %v", text, got, err)
	}
	text = []byte(strings.Replace(string(text), "not_converged", "not_so", 1))
	if err := json.Unmarshal(text, &got); err == nil || !strings.Contains(err.Error(), `no kind "not_so"`) {
		t.Errorf("error %v", err)
	}
}
