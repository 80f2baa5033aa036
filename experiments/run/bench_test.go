package run

import (
	"testing"

	"github.com/gpc-tune/gpc-tune/experiments/plan/plantest"
	"github.com/gpc-tune/gpc-tune/search/schedule"
)

// BenchmarkSmallJobs runs hundreds of jobs of at most a millisecond in a folder: the overhead of a
// run besides its fits.
func BenchmarkSmallJobs(b *testing.B) {
	const data = "data: {dataset: crabs, preprocess: standardize, subsample: 60}\nmodel: {kernel: se, likelihood: [probit, logit], inference: laplace}\n"
	for name, text := range map[string]string{
		"untuned": "tune: none\nevaluate: {repeated_kfold: {k: 10, repeats: 20}}\n",
		"tuned":   "tune: {method: bfgs, restarts: 2}\nevaluate: {repeated_kfold: {k: 10, repeats: 5}}\n",
		"grid":    "tune: {method: grid, grid: {length_scale: {log: [0, 1], points: 4}, amplitude: {log: [0, 1], points: 3}}}\nevaluate: {repeated_kfold: {k: 10, repeats: 5}}\n",
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				p := plantest.Planned(b, data+text)
				_, sum, err := Run(b.Context(), p, b.TempDir(), Options{Options: schedule.Options{Workers: 1}})
				if err != nil || sum.Failed > 0 {
					b.Fatal(err, sum)
				}
				b.ReportMetric(float64(sum.Done), "jobs/op")
			}
		})
	}
}
