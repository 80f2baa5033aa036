package classifier_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/experiments/classifier"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
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
	// [0.16 0.84]
	// [0.81 0.19]
}

// Kernel, likelihood, inference and more are options.
func ExampleTrain() {
	c, err := classifier.Train(context.Background(), shells, []bool{false, false, false, false, true, true, true, true},
		classifier.Kernel(kernel.Matern52{ARD: true}), classifier.Likelihood(likelihood.Logit{}),
		classifier.Inference(approx.Laplace{}), classifier.Restarts(1))
	if err != nil {
		log.Fatal(err)
	}
	decided, err := c.Predict(context.Background(), [][]float64{{1.5, 0.2}, {1.5, 2.5}})
	fmt.Println(decided, err)
	// Output:
	// [false true] <nil>
}

// A web service predicts for any number of concurrent requests, and stops when a request is cancelled.
func ExampleClassifier_Proba() {
	c, err := classifier.Train(context.Background(), shells, kinds, classifier.Restarts(1))
	if err != nil {
		log.Fatal(err)
	}
	handler := func(w http.ResponseWriter, r *http.Request) {
		var x [][]float64
		if err := json.NewDecoder(r.Body).Decode(&x); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		labels, err := c.Predict(r.Context(), x)
		if err != nil {
			http.Error(w, err.Error(), http.StatusUnprocessableEntity)
			return
		}
		json.NewEncoder(w).Encode(labels)
	}
	for _, body := range []string{"[[1.5, 0.2], [1.5, 2.5]]", "[[1.5]]"} {
		answer := httptest.NewRecorder()
		handler(answer, httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body)))
		fmt.Print(answer.Code, " ", answer.Body)
	}
	// Output:
	// 200 ["flat","deep"]
	// 422 classifier: row 1 (counted from 1) has 1 inputs, want 2
}
