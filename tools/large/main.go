// Large compares covariances of lower rank with the exact one on a data set for which both can be
// had, and writes docs/large-n.md with its figure: Laplace's method with FITC and VFE, with given
// numbers of inducing inputs and with the number that meets a tolerance. The page has the log
// evidence, the information on held-out cases, processor time and memory. Every number on the page
// is from these runs. Runs that are already in the folder are not repeated:
//
//	go run ./tools/large -cases spam.csv.gz -runs FOLDER
package main

import (
	"context"
	"flag"
	"log"
	"path/filepath"
	"strings"
)

func main() {
	log.SetFlags(0)
	out := flag.String("o", "docs/large-n.md", "the page to write; its figure goes beside it")
	file := flag.String("cases", "", "the cases, with the label in the last column: spam.csv.gz of R's kernlab")
	points := flag.String("points", "100,250,500,1000,2000", "numbers of inducing inputs")
	runs := flag.String("runs", "", "folder of the runs, which another start goes on with")
	rough := flag.Bool("rough", false, "print the rows of the table of the rough process instead")
	flag.Parse()
	if *rough && *runs != "" && flag.NArg() == 0 {
		if err := compareRough(context.Background(), *runs); err != nil {
			log.Fatal(err)
		}
		return
	}
	if *file == "" || *runs == "" || flag.NArg() > 0 {
		log.Fatal("usage: large -cases FILE -runs FOLDER [-points 100,200] [-o PAGE]")
	}
	rows, err := compare(context.Background(), *file, strings.Split(*points, ","), *runs)
	if err == nil {
		err = write(*out, filepath.Base(*file), rows)
	}
	if err != nil {
		log.Fatal(err)
	}
}
