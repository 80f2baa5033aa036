package cause

import (
	"errors"
	"fmt"
	"regexp"
	"testing"
)

// An error keeps its kind when it is wrapped, and its places apart from its text.
func TestFailed(t *testing.T) {
	sentinel := error(NotConverged.New("not converged"))
	deep := fmt.Errorf("difference: %w", At("at x=1", fmt.Errorf("%w: ep stopped", sentinel)))
	for _, test := range []struct {
		err  error
		want Notice
	}{
		{sentinel, Notice{Kind: NotConverged, Text: "not converged"}},
		{At("restart", At("at x=1", sentinel)), Notice{Kind: NotConverged, At: "restart: at x=1", Text: "not converged"}},
		{At("restart", deep), Notice{Kind: NotConverged, At: "restart", Text: "difference: at x=1: not converged: ep stopped"}},
		{errors.New("failed: not converged"), Notice{Kind: Failure, Text: "failed: not converged"}},
		{fmt.Errorf("%w: %w", NotFinite.New("a"), sentinel), Notice{Kind: NotFinite, Text: "a: not converged"}},
	} {
		if got := Failed(test.err); got != test.want || got.String() != test.err.Error() {
			t.Errorf("%v: %+v, want %+v", test.err, got, test.want)
		}
	}
	if !errors.Is(deep, sentinel) {
		t.Error("a sentinel is not found")
	}
}

// Every kind has a code and a cause in words of its own.
func TestRows(t *testing.T) {
	causes := map[string]Kind{}
	for k, r := range rows {
		if other, met := causes[r.cause]; met || r.cause == "" || k != "" && !regexp.MustCompile(`^[a-z_]+$`).MatchString(string(k)) {
			t.Errorf("%q: cause %q, also of %q", k, r.cause, other)
		}
		causes[r.cause] = k
	}
}
