package ledger

import (
	"bytes"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports"
)

// Every row of the ledger has exactly one claim, and every claim a row.
func TestClaims(t *testing.T) {
	rows, err := Rows()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := All.match(rows); err != nil {
		t.Error(err)
	}
	for source, claims := range All {
		for _, c := range claims {
			for _, text := range []string{c.Why, c.None} {
				if words := len(strings.Fields(text)); words > 40 || len([]rune(text)) > 200-len("differs: ") {
					t.Errorf("%s: %s: %d words, %d characters: %s", source, c.Row, words, len([]rune(text)), text)
				}
			}
		}
	}
}

// A printed value is uncertain by half a unit of its last digit.
func TestFigure(t *testing.T) {
	for _, c := range []struct {
		published, digits  string
		value, uncertainty float64
	}{
		{"100.6", "4", 100.6, 0.05}, {"107.0", "4", 107, 0.05}, {"-99", "2", -99, 0.5}, {"8000", "1", 8000, 500}, {"-1018", "4", -1018, 0.5},
		{"3.1 %", "2", 3.1, 0.05}, {"about 9", "1", 9, 0.5}, {"0.9956 bits", "4", 0.9956, 0.00005}, {"0 errors", "exact", 0, 0}, {"0", "1", 0, 0.5},
		{"10", "1", 10, 5}, {"0.051", "3", 0.051, 0.0005}, {"-117.9", "4", -117.9, 0.05},
	} {
		value, uncertainty, err := Row{Published: c.published, Digits: c.digits}.Figure()
		if err != nil || value != c.value || math.Abs(uncertainty-c.uncertainty) > 1e-12 {
			t.Errorf("%s with %s digits: %v ± %v, %v", c.published, c.digits, value, uncertainty, err)
		}
	}
	if _, _, err := (Row{Published: "yes"}).Figure(); err == nil {
		t.Error("a word is no number")
	}
}

func TestShown(t *testing.T) {
	for _, c := range []struct {
		x, uncertainty float64
		want           string
	}{{-99.46, 0.5, "-99.5"}, {22, 0.5, "22"}, {0.0321, 0.0005, "0.0321"}, {-106.999, 0.05, "-107.00"}, {8123.4, 500, "8123"}, {-0.0001, 0.05, "0.00"}} {
		if got := shown(c.x, c.uncertainty); got != c.want {
			t.Errorf("%v ± %v is %s, want %s", c.x, c.uncertainty, got, c.want)
		}
	}
}

// made is a run of two configurations.
func made() *Run {
	configuration := func(inference string, evidence reports.Number) reports.Configuration {
		c := reports.Configuration{LogEvidence: evidence}
		c.Record.Inference = record.Plain(inference)
		return c
	}
	return &Run{Report: &reports.Report{Configurations: []reports.Configuration{configuration("laplace", -99.3), configuration("ep", -90.6)}}}
}

// A row is compared, explained, taken from an earlier ledger, or left without a verdict.
func TestJudge(t *testing.T) {
	rows := []Row{{"A", "1", "", "x", "-99", "2", ""}, {"A", "2", "", "x", "-90", "2", ""}, {"A", "3", "", "x", "yes", "-", ""}, {"A", "4", "", "x", "1", "1", ""}}
	figure := func(row, inference string) Claim {
		return Claim{Row: row + " |  | x", From: "crabs", Figure: "log_evidence", Of: Of{Inference: inference}}
	}
	differs := figure("2", "ep")
	differs.Cause, differs.Why = otherFolds, "they are not printed"
	none := Claim{Row: "3 |  | x", None: "a proof"}
	later := figure("4", "ep")
	later.From = "screening"
	claims := Claims{"A": {figure("1", "laplace"), differs, none, later}}
	runs := Runs{"crabs": made()}
	got, err := Judge(rows, claims, runs, nil, nil)
	want := []Entry{
		{Row: rows[0], Here: "-99.3", Verdict: Agrees, Experiments: []string{"crabs"}},
		{Row: rows[1], Here: "-90.6", Verdict: Differs, Cause: otherFolds, Reason: "they are not printed", Experiments: []string{"crabs"}},
		{Row: rows[2], Verdict: NotApplicable, Reason: "a proof", Experiments: []string{}},
		{Row: rows[3], Verdict: NotApplicable, Reason: "gallery:screening has not been run to its end", Experiments: []string{"screening"}, Kept: NotRun},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%#v, %v", got, err)
	}

	// rows whose experiment is not run come from a finished run or an earlier ledger
	want[0].Kept, want[1].Kept = keptRun, keptRun
	want[3].Here, want[3].Verdict, want[3].Reason = "1.0", Agrees, ""
	former := []Entry{want[3]}
	want[3].Kept = formerValue
	got, err = Judge(rows, claims, nil, runs, former)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%#v, %v", got, err)
	}
	var text bytes.Buffer
	if err := Write(&text, got); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(text.String(), "\nA,2,,x,-90,2,,-90.6,differs,other folds: they are not printed,crabs,no: kept run\n") {
		t.Error(text.String())
	}
	if again, err := Read(&text); err != nil || !reflect.DeepEqual(again, want) {
		t.Errorf("read again %#v, %v", again, err)
	}

	claims["A"][1].Cause, claims["A"][1].Why = "", ""
	if _, err := Judge(rows, claims, runs, nil, nil); err == nil || !strings.Contains(err.Error(), "it is -90.6 here and -90 there, and the claim does not say why") {
		t.Errorf("a difference without a reason: %v", err)
	}
	claims["A"][0].Of = Of{}
	if _, err := Judge(rows, claims, runs, nil, nil); err == nil || !strings.Contains(err.Error(), "gallery:crabs has 2 configurations with") {
		t.Errorf("two configurations: %v", err)
	}
}

// A claim belongs to one row and has one of Figure, Check and None. A row has one claim.
func TestMatch(t *testing.T) {
	rows := []Row{{Source: "A", Place: "1"}, {Source: "A", Place: "2"}}
	one := Claim{Row: "1 |  | ", None: "a proof"}
	for want, claims := range map[string][]Claim{
		"A: 1 |  | : two claims":                                         {one, one},
		"A: 3 |  | : a claim of a row that is not in the ledger":         {one, {Row: "3 |  | ", None: "a proof"}},
		"the claim has 0 of Figure, Check and None, and must have one":   {{Row: one.Row}},
		"the claim has 2 of Figure, Check and None, and must have one":   {{Row: one.Row, None: "a proof", Figure: "errors"}},
		"the claim does not say From which experiment":                   {{Row: one.Row, Figure: "errors"}},
		"the claim has one of Cause and Why, and must have both or none": {{Row: one.Row, Figure: "errors", From: "crabs", Why: "x"}},
		"there is no gallery:crab":                                       {{Row: one.Row, Figure: "errors", From: "crab"}},
		"A: 2 |  | : no claim":                                           {one},
	} {
		if _, err := (Claims{"A": claims}).match(rows); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if _, err := read("a,b\n"); err == nil || !strings.Contains(err.Error(), "the first line must be source,place,") {
		t.Errorf("other columns: %v", err)
	}
}
