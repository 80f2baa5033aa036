// Tables makes fifty tables as exports of other programs are, with known truth. It has init write a
// study of each and runs it untouched. Then it compares the log loss of the answer, on rows that
// the study never saw, with classifiers of scikit-learn and with the true probabilities. It writes
// the section Tables with known truth of docs/evidence.md:
//
//	go run ./tools/tables
package main

import (
	"bytes"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"time"
)

func main() {
	log.SetFlags(0)
	page := flag.String("o", "docs/evidence.md", "the page whose section Tables with known truth is written anew; "+
		"empty: only print it")
	rows := flag.Int("rows", 240, "rows of each table to learn from; 1000 more are predicted")
	only := flag.String("only", "", "a regular expression of the names of tables: these alone, and nothing is written")
	seed := flag.Uint64("seed", 1, "of all random numbers; the next one makes the tables again")
	python := flag.String("python", "/usr/bin/python3", "a Python with scikit-learn and pandas; empty: none")
	dir := flag.String("dir", "", "an empty folder for the files, which are kept; empty: a temporary one")
	flag.Parse()
	if flag.NArg() > 0 || *rows < 50 {
		log.Fatal("usage: tables [-rows 240] [-o PAGE] [-only NAMES] [-seed 1] [-python PYTHON] [-dir FOLDER]")
	}
	if *python != "" {
		if out, err := exec.Command(*python, "-c", "import pandas, sklearn").CombinedOutput(); err != nil {
			log.Printf("without scikit-learn: %s: %v\n%s", *python, err, out)
			*python = ""
		}
	}
	if *dir == "" {
		temporary, err := os.MkdirTemp("", "tables")
		if err != nil {
			log.Fatal(err)
		}
		defer os.RemoveAll(temporary)
		*dir = temporary
	}
	program, err := built(*dir, *python)
	if err != nil {
		log.Fatal(err)
	}
	chosen, err := regexp.Compile(*only)
	if err != nil {
		log.Fatal(err)
	}
	try := func(seed uint64) (all []result) {
		for k, s := range sheets {
			if !chosen.MatchString(s.name) {
				continue
			}
			start := time.Now()
			r, err := program.tried(s, filepath.Join(*dir, fmt.Sprintf("%d-%d", seed, k)), *rows, seed+uint64(k)<<32)
			if err != nil {
				log.Fatalf("%s: %v", s.name, err)
			}
			log.Printf("%s: %+v, %.0f s", s.name, r, time.Since(start).Seconds())
			all = append(all, r)
		}
		return all
	}
	section := written(try(*seed), try(*seed+1), *rows, *seed)
	if *only != "" || *page == "" {
		fmt.Print(section)
		return
	}
	text, err := os.ReadFile(*page)
	if err != nil {
		log.Fatal(err)
	}
	before, rest, found := bytes.Cut(text, []byte("\n"+heading))
	if !found {
		log.Fatalf("%s has no section %s", *page, heading)
	}
	if next := bytes.Index(rest, []byte("\n## ")); next >= 0 {
		section += string(rest[next:])
	}
	if err := os.WriteFile(*page, append(append(before, '\n'), section...), 0o666); err != nil {
		log.Fatal(err)
	}
}
