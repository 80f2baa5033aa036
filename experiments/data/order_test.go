package data

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/experiments/data/cells"
)

// TestOrder: order arranges the classes. Their order is unknown if neither the file nor numbers
// give it.
func TestOrder(t *testing.T) {
	dir := t.TempDir()
	for name, labels := range map[string][]string{
		"words.csv": {"mid", "low", "high", "low", "mid", "high"}, "numbers.csv": {"10", "9", "2", "2", "9", "10"},
	} {
		text := "x,label\n"
		for i, l := range labels {
			text += string(rune('1'+i)) + "," + l + "\n"
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		spec      Spec
		classes   string
		unordered bool
	}{
		{Spec{Train: "words.csv"}, "high low mid", true},
		{Spec{Train: "words.csv", Order: []cells.Name{"low", "mid", "high"}}, "low mid high", false},
		{Spec{Train: "words.csv", Order: []cells.Name{"mid", "low"}, Classes: []cells.Name{"low", "mid"}}, "mid low", false},
		{Spec{Train: "words.csv", Classes: []cells.Name{"low", "mid"}}, "low mid", false},
		{Spec{Train: "numbers.csv"}, "2 9 10", false},
		{Spec{Train: "numbers.csv", Order: []cells.Name{"10", "9", "2"}}, "10 9 2", false},
	} {
		d, err := Load(c.spec, dir, 0)
		if err != nil {
			t.Errorf("%+v: %v", c.spec, err)
			continue
		}
		if strings.Join(d.Classes, " ") != c.classes || (d.CheckOrder() != nil) != c.unordered {
			t.Errorf("%+v: classes %q, %v", c.spec, d.Classes, d.CheckOrder())
		}
		if first := slices.Index(d.Classes, map[string]string{"words.csv": "mid", "numbers.csv": "10"}[c.spec.Train]); d.Labels[0] != first {
			t.Errorf("%+v: labels %v", c.spec, d.Labels)
		}
	}
	above := 5.0
	for want, s := range map[string]Spec{
		`"tall"`:             {Train: "words.csv", Order: []cells.Name{"low", "mid", "tall"}},
		`"high" is missing`:  {Train: "words.csv", Order: []cells.Name{"low", "mid"}},
		`"low" occurs twice`: {Train: "words.csv", Order: []cells.Name{"low", "mid", "low"}},
		"remove one":         {Train: "words.csv", Order: []cells.Name{"low", "mid", "high"}, Positive: "low"},
		"above makes":        {Train: "numbers.csv", Order: []cells.Name{"2", "9", "10"}, Above: &above},
	} {
		if _, err := Load(s, dir, 0); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want an error with %q", s, err, want)
		}
	}
}
