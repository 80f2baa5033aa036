package data

import (
	"fmt"
	"os"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/experiments/data/sets"
	"github.com/gpc-tune/gpc-tune/internal/testing/golden"
	"github.com/gpc-tune/gpc-tune/internal/testing/needs"
)

func TestBundledSetsHaveTheStatedCounts(t *testing.T) {
	for _, s := range sets.Table {
		t.Run(s.Name, func(t *testing.T) {
			if s.Doc == "" || s.Citation == "" || s.Licence == "" {
				t.Error("needs a doc, a citation and a licence")
			}
			d, err := Load(Spec{Dataset: s.Name, Missing: "mean", Regression: s.Classes == nil}, "", 1)
			if err != nil {
				t.Fatal(err)
			}
			check := func(d *Data, rows int, classes []Count) {
				n, features := d.X.Dims()
				if n != rows || features != s.Features || len(d.ColumnNames) != features || len(d.Rows) != n {
					t.Errorf("%d × %d, stated are %d × %d", n, features, rows, s.Features)
				}
				if got := Describe(d).Classes; !reflect.DeepEqual(got, classes) {
					t.Errorf("classes %v, stated are %v", got, classes)
				}
			}
			check(d, s.Rows, s.Classes)
			if (d.Test != nil) != (s.TestRows > 0) || !s.Generated() && (s.TestRows > 0) != (s.Test != "") {
				t.Fatal("test file and test counts do not go together")
			}
			if d.Test != nil {
				check(d.Test, s.TestRows, s.TestClasses)
			}
			if len(d.Warnings) > 0 {
				t.Errorf("warnings %q", d.Warnings)
			}
		})
	}
}

// The published counts come from the table in the collection's README.
func TestBundledSetsAgreeWithThePublishedCounts(t *testing.T) {
	page, err := os.ReadFile(needs.Data(t, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile(`(?m)^\| (\S+) \| (\d+) \| (\d+) \| ([^|]*) \|`)
	published := map[string]string{}
	for _, m := range row.FindAllStringSubmatch(string(page), -1) {
		published[m[1]] = m[2] + " × " + m[3] + ": " + m[4]
	}
	stated := func(rows, features int, classes []Count) string {
		var parts []string
		for _, c := range classes {
			parts = append(parts, c.Class+" "+strconv.Itoa(c.N))
		}
		if classes == nil {
			parts = []string{"numeric"}
		}
		return fmt.Sprintf("%d × %d: %s", rows, features, strings.Join(parts, ", "))
	}
	for _, s := range sets.Table {
		if s.Generated() {
			continue
		}
		if got := stated(s.Rows, s.Features, s.Classes); got != published[s.Train] {
			t.Errorf("%s: stated %s, published %s", s.Train, got, published[s.Train])
		}
		if s.Test != "" {
			if got := stated(s.TestRows, s.Features, s.TestClasses); got != published[s.Test] {
				t.Errorf("%s: stated %s, published %s", s.Test, got, published[s.Test])
			}
		}
	}
}

func TestBundledFilesAreTheOriginals(t *testing.T) {
	for _, s := range sets.Table {
		for _, test := range []bool{false, true} {
			if s.Generated() {
				continue
			}
			file, got, err := s.File(test)
			if err != nil {
				t.Fatal(err)
			}
			want, err := os.ReadFile(needs.Data(t, file))
			if err != nil {
				t.Fatal(err)
			}
			golden.Equal(t, file+" differs from its original", got, want)
		}
	}
}

func TestLookupSuggests(t *testing.T) {
	_, err := sets.Lookup("crab")
	if err == nil || !strings.Contains(err.Error(), `did you mean "crabs"`) {
		t.Errorf("got %v", err)
	}
}
