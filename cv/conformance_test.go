package cv_test

import (
	"testing"

	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/cv/scoretest"
	"github.com/gpc-tune/gpc-tune/cv/splittertest"
)

func TestEverySplitter(t *testing.T) {
	for _, entry := range cv.Table {
		s, err := entry.New(nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(entry.Name, func(t *testing.T) { splittertest.Check(t, s) })
	}
}

func TestEveryScore(t *testing.T) {
	for _, s := range cv.Scores {
		t.Run(s.Name, func(t *testing.T) { scoretest.Check(t, s) })
	}
}
