//go:build unix

package doctor

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestDoctor(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	found := map[string]string{}
	if err := Doctor(t.Context(), func(what, text string) { found[what] = text }); err != nil {
		t.Fatal(err)
	}
	for what, want := range map[string]string{
		"gpc-tune": "go1.", "processor": " core", "log evidence of crabs, laplace with logit": "yes",
		"log evidence of crabs, ep with probit": "yes", "vector instructions give correct results": "yes",
		"run folders can be created here": "yes", "generic: products, Cholesky (n = 512)": "GFLOP/s on one core",
	} {
		if !strings.Contains(found[what], want) {
			t.Errorf("%s: %q", what, found[what])
		}
	}
	// Any machine of today has between 0.05 and 5 000 GFLOP/s on a core.
	for what, text := range found {
		var product, cholesky float64
		if !strings.Contains(what, ": products") {
			continue
		}
		if n, err := fmt.Sscanf(text, "%g, %g GFLOP/s", &product, &cholesky); n != 2 || err != nil ||
			!(min(product, cholesky) > 0.05 && max(product, cholesky) < 5000) {
			t.Errorf("%s: %s", what, text)
		}
	}
	if left, err := filepath.Glob(filepath.Join(dir, ".*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// A check that fails is named, and the others are made.
func TestDoctorFindsFaults(t *testing.T) {
	if err := evidence(t.Context(), "probit", "ep", -59.5615446); err == nil ||
		!strings.Contains(err.Error(), "and should be -59.5615446") {
		t.Error(err)
	}
	dir := t.TempDir()
	t.Chdir(dir)
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	told := 0
	err := Doctor(t.Context(), func(what, text string) {
		if told++; strings.HasPrefix(text, "NO: ") != (what == "run folders can be created here") {
			t.Errorf("%s: %s", what, text)
		}
	})
	if err == nil || !strings.Contains(err.Error(), "run folders can be created here: ") || told < 8 {
		t.Errorf("%d findings, and %v", told, err)
	}
}
