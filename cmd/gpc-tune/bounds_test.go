package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/gpc-tune/gpc-tune/internal/testing/exhaustive"
	"github.com/gpc-tune/gpc-tune/internal/testing/needs"
)

// A request beyond the limits is refused with a short message, before memory is allocated for it.
func TestBounds(t *testing.T) {
	const data, model = "data: {dataset: crabs}\n", "model: {kernel: se, likelihood: probit, inference: laplace}\n"
	dir := t.TempDir()
	write := func(name string, content []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, content, 0o666); err != nil {
			t.Fatal(err)
		}
		return "data: {train: " + path + "}\n" + model
	}
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	for line := []byte(strings.Repeat("0,0,0,1\n", 1<<14)); zipped.Len() < 1<<18; {
		if _, err := z.Write(line); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	sparse := filepath.Join(dir, "sparse.csv")
	if err := os.WriteFile(sparse, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(sparse, 10<<30); err != nil {
		t.Fatal(err)
	}
	many := func(format string, n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	long := exhaustive.Of(20_000, 60_000)
	more := fmt.Sprintf("and at least %d more like these", long-20)
	for name, c := range map[string]struct{ text, says string }{
		"restarts":     {data + model + "tune: {restarts: 1000000000}\n", "from 1 to 100000"},
		"grid":         {data + model + "tune: {method: grid, grid: {length_scale: {log: [0, 1], points: 1000000000000}}}\n", "from 1 to 1000000"},
		"grid product": {data + model + "tune: {method: grid, grid: {length_scale: {log: [0, 1], points: 1000000}, amplitude: {log: [0, 1], points: 1000000}}}\n", "1e+12 points"},
		"repeats":      {data + model + "evaluate: {repeated_kfold: {k: 5, repeats: 1000000000}}\n", "repeats"},
		"jobs":         {data + model + "tune: {method: sobol, trials: 1000000}\nevaluate: {kfold: {k: 20}}\n", "more than 10000000 jobs"},
		"keys":         {data + model + many("k%d: 1\n", long), more},
		"keys within":  {"data: {dataset: crabs" + many(", k%d: 1", long) + "}\n" + model, more},
		"keys set":     {data + model + many("seed: %d\n", long), "more like these"},
		"kernels":      {data + "model: {kernel: [" + strings.Repeat("sx,", long) + "], likelihood: probit, inference: laplace}\n", "more like these"},
		"sum":          {data + "model: {kernel: {sum: [" + strings.Repeat("se,", long) + "]}, likelihood: probit, inference: laplace}\n", "at most 1000"},
		"columns":      {"data: {dataset: crabs, columns: [" + many("c%d,", long) + "]}\n" + model, "more columns that the file does not have"},
		"classes":      {"data: {dataset: crabs, classes: [" + many("c%d,", long) + "]}\n" + model, "the limit is 100"},
		"data sets":    {"data: {dataset: [" + strings.Repeat("crabs,", 50000) + "]}\n" + model, "more than 1000"},
		"draws":        {"model: {kernel: se, likelihood: softmax}\nillustrate: {prior: {classes: [" + many("c%d,", long) + "]}}\n", "at most 100"},
		"compressed":   {write("bomb.csv.gz", zipped.Bytes()), "times its compressed size"},
		"sparse":       {"data: {train: " + sparse + "}\n" + model, "10737418240 bytes"},
		"svmlight":     {write("huge.svm", []byte(strings.Repeat("1 1:1\n-1 2:1\n", 60)+"1 1000000:1\n")), "number the features"},
		"line":         {write("line.csv", append(bytes.Repeat([]byte("x"), 1<<25), "\n1\n"...)), "that one line may have"},
		"commas":       {write("commas.csv", append(bytes.Repeat([]byte(","), 1<<23), "\n1\n"...)), "fields"},
		"rows":         {write("ragged.csv", []byte(strings.Repeat("1,", 200000)+"1\n"+strings.Repeat("1\n", 500))), "field, where the first line has"},
		"zeros":        {"data: {train: /dev/zero}\n" + model, "can be read once"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := os.Stat("/dev/zero")
			needs.That(t, name != "zeros" || err == nil, "/dev/zero: run it on Linux or another Unix")
			path := filepath.Join(dir, "experiment.yaml")
			if err := os.WriteFile(path, []byte(c.text), 0o666); err != nil {
				t.Fatal(err)
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			done := make(chan int)
			var out, complaints bytes.Buffer
			go func() {
				done <- run(context.Background(), nil, []string{"validate", path}, strings.NewReader(""), &out, &complaints)
			}()
			select {
			case code := <-done:
				if text := complaints.String(); code != exitInvalid || !strings.Contains(text, c.says) || len(text) > 20_000 {
					t.Errorf("exit code %d, %d bytes, want %q:\n%.1000s", code, len(text), c.says, text)
				}
			case <-time.After(2 * time.Minute):
				t.Fatal("hangs")
			}
			runtime.ReadMemStats(&after)
			if took := after.TotalAlloc - before.TotalAlloc; took > 500<<20 { // including memory freed since
				t.Errorf("%d MiB were allocated", took>>20)
			}
		})
	}
}
