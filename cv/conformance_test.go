package cv_test

import (
	"testing"

	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/cv/scoretest"
)

func TestEveryScore(t *testing.T) {
	for _, s := range cv.Scores {
		t.Run(s.Name, func(t *testing.T) { scoretest.Check(t, s) })
	}
}
