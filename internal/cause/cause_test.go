package cause

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"testing"
)

// An error keeps its kind when it is wrapped, and keeps its places separate from its text.
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

// The text of a notice begins with its place and ends with the number of cases. Only an empty
// notice is zero.
func TestNotices(t *testing.T) {
	few := Raised.Of(3, "%d sites", 3)
	if !(Notice{}).IsZero() || few.IsZero() || few.Cause() != Raised || few.Cases != 3 {
		t.Errorf("%+v", few)
	}
	texts := Texts([]Notice{few.In("x=1").In("restart"), NotFinite.New("infinite")})
	if want := []string{"restart: x=1: 3 sites (cases: 3)", "infinite"}; !slices.Equal(texts, want) {
		t.Errorf("%q, want %q", texts, want)
	}
}

// A kind is read back by its code, and an unknown code is an error.
func TestKindIsRead(t *testing.T) {
	for code := range rows {
		var read Kind
		if err := read.UnmarshalText([]byte(code)); err != nil || read != code {
			t.Errorf("%q is read as %q: %v", code, read, err)
		}
	}
	read := Damped
	if err := read.UnmarshalText([]byte("unheard")); err == nil || read != Damped {
		t.Errorf("an unknown code is read as %q", read)
	}
	if _, meaning, note := Undefined.Explanation(); meaning == "" || note {
		t.Errorf("a failure: %q, for information only: %v", meaning, note)
	}
	if _, meaning, note := Damped.Explanation(); meaning == "" || !note || Damped.Remedies() != nil {
		t.Errorf("for information only: %q, %v", meaning, note)
	}
	if kinds := read.JSONSchema()["enum"].([]Kind); len(kinds) != len(rows) || !slices.IsSorted(kinds) {
		t.Errorf("kinds of the schema: %q", kinds)
	}
}
