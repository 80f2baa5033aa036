// Verdicts measures how often the statements of reports on configurations are wrong: that the best
// knows something about the labels, that it may be the best, and what its score is worth. Many
// cheap models predict held-out cases of simulated data, for which the truth is known. It writes
// the section Simulations of docs/evidence.md:
//
//	go run ./tools/verdicts
package main

import (
	"bytes"
	"flag"
	"fmt"
	"log"
	"os"
	"time"
)

func main() {
	log.SetFlags(0)
	page := flag.String("o", "docs/evidence.md", "the page whose section Simulations is written anew; "+
		"empty: only print it")
	sets := flag.Int("sets", 500, "data sets of every design without signal; those of power have two fifths, "+
		"others a fifth")
	only := flag.String("only", "", "skill | power | set | corrected: only this part, which is printed")
	seed := flag.Uint64("seed", 1, "of all random numbers")
	flag.Parse()
	if flag.NArg() > 0 || *sets < 5 {
		log.Fatal("usage: verdicts [-sets 500] [-o PAGE] [-only PART] [-seed 1]")
	}
	start := time.Now()
	var out bytes.Buffer
	fmt.Fprintf(&out, head, *seed)
	for _, part := range []struct {
		name string
		run  func(*bytes.Buffer, int, uint64)
	}{{"skill", skill}, {"power", power}, {"set", kept}, {"corrected", corrected}} {
		if *only == "" || *only == part.name {
			part.run(&out, *sets, *seed)
			log.Printf("%s: %.0f s", part.name, time.Since(start).Seconds())
		}
	}
	if *only != "" || *page == "" {
		fmt.Print(out.String())
		return
	}
	text, err := os.ReadFile(*page)
	if err != nil {
		log.Fatal(err)
	}
	before, rest, found := bytes.Cut(text, []byte("\n## Simulations\n"))
	if !found {
		log.Fatalf("%s has no section Simulations", *page)
	}
	if next := bytes.Index(rest, []byte("\n## ")); next >= 0 {
		out.Write(rest[next:])
	}
	if err := os.WriteFile(*page, append(append(before, '\n'), out.Bytes()...), 0o666); err != nil {
		log.Fatal(err)
	}
}

const head = `## Simulations

How often are these statements wrong? Below are simulations with known truth, from
` + "`make verdicts`" + ` with seed %d. The models are least-squares classifiers with covariances of Gaussian
processes, whose held-out predictions are cheap. A row names models, cases, folds and classes.
Inputs, folds and models are drawn once for 25 draws of the labels, so errors of the figures are
somewhat larger than for independent sets; only the set and its bounds have new inputs and folds in
each set.
`
