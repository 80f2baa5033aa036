package plan_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/experiments/plan/plantest"
	"github.com/gpc-tune/gpc-tune/internal/cause"
)

// A threshold for a score of one class warns where that class has most of the cases and none was
// declared positive.
func TestThresholdOfTheFrequentClass(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "cases.csv")
	text := "x,y\n"
	for i := range 40 {
		text += fmt.Sprintf("%d,%s\n", i, map[bool]string{true: "fraud", false: "ok"}[i%5 == 0])
	}
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		data, score string
		want        bool
	}{{"", "f1", true}, {", positive: ok", "f1", false}, {", positive: fraud", "f1", false}, {"", "matthews", false}} {
		p := plantest.Planned(t, "name: cases\ndata: {train: "+file+", label: y"+c.data+"}\nmodel: {kernel: se, likelihood: probit, "+
			"inference: laplace}\ntune: none\nevaluate: {kfold: {k: 4}}\npredict: {threshold: {maximise: "+c.score+"}}\n")
		about := slices.IndexFunc(p.Manifest.Warnings, func(w cause.Notice) bool { return w.Kind == cause.PositiveClass })
		if got := about >= 0; got != c.want {
			t.Errorf("%+v: %v", c, p.Manifest.Warnings)
		}
		if about >= 0 && !strings.Contains(p.Manifest.Warnings[about].String(), `f1 is about class "ok", of 32 cases; declare data: {positive: fraud}`) {
			t.Errorf("%s", p.Manifest.Warnings[about])
		}
	}
}
