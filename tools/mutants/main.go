//go:build unix

// Mutants measures the tests: it changes the code in many small ways, one at a time, and counts the
// changes that a test detects.
//
// All mutants of a draw are compiled into the test programs at once, each behind a condition, with
// go test's -overlay: the sources are unchanged, and nothing is recompiled for the next mutant.
// First every test runs alone without a mutant, to record which mutants it reaches and how long it
// takes. Then each mutant is tested with the tests that reach it, up to the first that fails, two
// mutants at a time.
//
// A mutant is killed by a test that fails or takes far longer than without it, and alive otherwise.
// equivalent.txt lists mutants with the same results as the original, each with the reason; they
// are not counted.
//
// Gremlins (github.com/go-gremlins/gremlins v0.6.0) was tried instead: it compiles for every
// mutant, cannot draw a sample, neither removes statements nor changes numbers, and has no list of
// equivalent mutants.
package main

import (
	"context"
	_ "embed"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/sourcegraph/conc/pool"
)

//go:embed equivalent.txt
var equivalentText string

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

func run() error {
	seed := flag.Uint64("seed", uint64(time.Now().Unix()), "of the draw (default: another one every time)")
	each := flag.Int("each", 6, "mutants of a package, or as many as a small one has")
	only := flag.String("only", "", "the packages that mutants are drawn from (default: all of the product)")
	tests := flag.String("tests", "", "the packages whose tests run (default: all)")
	match := flag.String("match", "", "run only mutants whose file:line has this in it")
	least := flag.Float64("least", 0.92, "fail where a smaller part of the mutants is killed")
	within := flag.Duration("within", time.Hour, "no further test of a mutant begins after this: it counts as alive")
	out := flag.String("o", "", "write the figures to this Markdown file")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	reasons, err := readEquivalent(equivalentText)
	if err != nil {
		return err
	}
	product, tested, err := packagesOf(ctx)
	if err != nil {
		return err
	}
	folders := named(*only, product)
	var drawn []mutant
	known, text := map[[3]string]bool{}, map[string]string{}
	for _, folder := range folders {
		s, err := load(ctx, folder)
		if err != nil {
			return err
		}
		all := s.mutants()
		for _, m := range all {
			known[m.key()] = true
		}
		here := s.draw(all, *seed, *each, 1+len(drawn))
		drawn = append(drawn, here...)
		maps.Copy(text, s.with(here...))
	}
	temporary, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temporary)
	t := &trial{temporary: temporary, within: *within, reach: map[int][]test{}}
	folders = named(*tests, tested)
	fmt.Printf("%d mutants drawn with seed %d; building the tests of %d packages\n", len(drawn), *seed, len(folders))
	if err := t.build(ctx, folders, text); err != nil {
		return err
	}
	if err := t.trace(ctx, folders); err != nil {
		return err
	}
	drawn = slices.DeleteFunc(drawn, func(m mutant) bool {
		return !strings.Contains(fmt.Sprintf("%s:%d", m.file, m.line), *match)
	})
	results := make([]result, len(drawn))
	workers := pool.New().WithMaxGoroutines(atOnce).WithErrors().WithFirstError()
	for i, m := range drawn {
		workers.Go(func() error {
			r, err := t.judge(ctx, m)
			if r.reason = reasons[r.key()]; r.reason != "" && r.end == alive {
				r.end = equivalent
			}
			results[i] = r
			if err == nil {
				fmt.Println(r)
			}
			return err
		})
	}
	if err := workers.Wait(); err != nil {
		return err
	}
	page, rate := summary(results, *seed, *each)
	fmt.Print(page)
	if *out != "" {
		if err := os.WriteFile(*out, []byte(page), 0o666); err != nil {
			return err
		}
	}
	for key := range reasons {
		if *only == "" && !known[key] {
			fmt.Printf("equivalent.txt lists what is no more in the code: %s: %s (%s)\n", key[0], key[1], key[2])
		}
	}
	return verdict(results, t.failing, rate, *least)
}

// named are the packages of a list, or all.
func named(list string, all []string) []string {
	if list == "" {
		return all
	}
	return strings.Split(list, ",")
}

// verdict returns an error if tests fail without a mutant, if a mutant listed as equivalent is
// killed, or if fewer mutants are killed than wanted.
func verdict(results []result, failing int, rate, least float64) error {
	wrong := 0
	for _, r := range results {
		if r.reason != "" && r.end != equivalent {
			fmt.Println("listed as equivalent:", r)
			wrong++
		}
	}
	switch {
	case failing > 0:
		return fmt.Errorf("%d tests fail without a mutant", failing)
	case wrong > 0:
		return fmt.Errorf("%d mutants listed as equivalent are killed; take them off the list", wrong)
	case rate < least:
		return fmt.Errorf("%.1f %% are killed, expected at least %.1f %%", 100*rate, 100*least)
	}
	return nil
}

// readEquivalent reads the list. A mutant has four lines, the file, the line of source, the change
// and the reason; a blank line ends it.
func readEquivalent(list string) (map[[3]string]string, error) {
	all := map[[3]string]string{}
	for block := range strings.SplitSeq(strings.TrimSpace(list), "\n\n") {
		l := strings.Split(block, "\n")
		if len(l) != 4 {
			return nil, fmt.Errorf("equivalent.txt: want a file, a line, a change and a reason, not %q", block)
		}
		all[[3]string{l[0], l[1], l[2]}] = l[3]
	}
	return all, nil
}
