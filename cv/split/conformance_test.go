package split_test

import (
	"fmt"
	"testing"

	"github.com/gpc-tune/gpc-tune/cv/split"
	"github.com/gpc-tune/gpc-tune/cv/splittertest"
)

func TestEverySplitter(t *testing.T) {
	for _, entry := range split.Table {
		s, err := entry.New(nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(entry.Name, func(t *testing.T) { splittertest.Check(t, s) })
	}
}

// The folds hold out every case once.
func ExampleSplitter() {
	folds, err := split.KFold{K: 2}.Split(6, []int{0, 1, 0, 1, 0, 1}, nil, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range folds {
		fmt.Println(len(f.Train), "train,", len(f.Test), "test")
	}
	// Output:
	// 3 train, 3 test
	// 3 train, 3 test
}
