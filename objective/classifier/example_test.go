package classifier_test

import (
	"bytes"
	"context"
	"fmt"
	"log"

	"github.com/gpc-tune/gpc-tune/objective/classifier"
)

// Width and depth of eight shells, of two kinds.
var (
	shells = [][]float64{{0, -0.8}, {1, 0.1}, {2, 0.9}, {0.5, -0.1}, {0, 1.1}, {1, 1.6}, {2, 2.9}, {-1, 0.4}}
	kinds  = []string{"flat", "flat", "flat", "flat", "deep", "deep", "deep", "deep"}
)

// From arrays to probabilities, and through a model file.
func Example() {
	ctx := context.Background()
	c, err := classifier.Train(ctx, shells, kinds)
	if err != nil {
		log.Fatal(err)
	}
	var file bytes.Buffer
	if err := c.Save(&file); err != nil {
		log.Fatal(err)
	}
	loaded, err := classifier.Load(&file)
	if err != nil {
		log.Fatal(err)
	}
	proba, err := loaded.Proba(ctx, [][]float64{{1.5, 0.2}, {1.5, 2.5}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(loaded.Classes())
	for _, p := range proba {
		fmt.Printf("%.2f\n", p)
	}
	// Output:
	// [deep flat]
	// [0.02 0.98]
	// [0.96 0.04]
}
