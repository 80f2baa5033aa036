package plan_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gpc-tune/gpc-tune/experiments/plan/plantest"
)

// The manifest has the groups of cases by their rows in the file, numbered in the order of the
// cases; a case that is left out has none.
func TestGroupsAreRecorded(t *testing.T) {
	file := filepath.Join(t.TempDir(), "t.csv")
	rows := "a,who,y\n1,x,no\n2,z,yes\n,x,no\n3,x,yes\n4,u,no\n5,z,yes\n"
	if err := os.WriteFile(file, []byte(rows), 0o666); err != nil {
		t.Fatal(err)
	}
	text := "version: 1\nname: t\nseed: 1\ndata: {train: " + file + ", label: y, group: who, missing: drop}\n" +
		"model: {kernel: {se: {}}, likelihood: probit, inference: laplace}\ntune: {method: none}\n" +
		"evaluate: {group_kfold: {k: 3}}\n"
	groups := plantest.Planned(t, text).Manifest.Groups
	if len(groups) != 1 || !slices.Equal(groups[0].Of, []int{0, 1, -1, 0, 2, 1}) {
		t.Errorf("%+v", groups)
	}
}
