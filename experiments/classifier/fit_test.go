package classifier

import (
	"testing"

	"github.com/gpc-tune/gpc-tune/experiments/record"
)

// The message of fit about its configuration counts the configurations with a value, names equal
// ones, and shows a score with its own sign.
func TestWinnerAmong(t *testing.T) {
	for _, test := range []struct {
		objective           string
		value               float64
		fitted, all, equals int
		want                string
	}{
		{"log_evidence", -102.25, 2, 2, 1, "log_evidence of -102.25 is the largest of 2"},
		{"log_evidence", -102.25, 2, 3, 1, "log_evidence of -102.25 is the largest of 2, without the 1 that have failed"},
		{"cv_error_rate", -0.0625, 4, 4, 2, "cv_error_rate of 0.0625 is the smallest of 4; 2 are equal, and this is the first of them in the file"},
		{"cv_information_bits", 0.5, 4, 4, 1, "cv_information_bits of 0.5 is the largest of 4"},
	} {
		if got := (winner{value: record.Number(test.value)}).among(test.objective, test.fitted, test.all, test.equals); got != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
}
