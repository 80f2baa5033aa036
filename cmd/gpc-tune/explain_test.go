package main

import (
	"bytes"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/experiments/catalogue"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/reports"
)

// explainedOrNot runs gpc-tune explain.
func explainedOrNot(t *testing.T, word string) bool {
	t.Helper()
	var out, log bytes.Buffer
	return run(t.Context(), nil, append([]string{"explain", "--"}, strings.Fields(word)...), nil, &out, &log) == exitDone
}

// everyday lists words of answers that have their ordinary meaning.
var everyday = strings.Fields(`a about above all alone also an and any are as at be because been better but by can case cases checked
	contribute few for found from good half higher if is it its lost lower make may more most next no not of on one only or other
	others out over per problem same see simplest take tell than that the them then there they this to too true two use
	using want was were what which with without worse would you`)

// wordOfText matches a word of a text.
var wordOfText = regexp.MustCompile(`[a-z][a-z_-]*[a-z]`)

// unexplained lists the words of a text that gpc-tune explain does not know, without these names of
// data. A phrase counts as one word.
func unexplained(t *testing.T, text string, names ...string) (out []string) {
	t.Helper()
	text = strings.ToLower(text)
	phrases := slices.DeleteFunc(catalogue.Names(), func(name string) bool { return !strings.Contains(name, " ") })
	slices.SortFunc(phrases, func(a, b string) int { return len(b) - len(a) })
	for _, p := range phrases {
		text = regexp.MustCompile(`\b`+regexp.QuoteMeta(strings.ToLower(p))+`s?\b`).ReplaceAllString(text, ";")
	}
	for _, w := range wordOfText.FindAllString(text, -1) {
		if !slices.Contains(out, w) && !slices.Contains(everyday, w) && !slices.Contains(names, w) && !explainedOrNot(t, w) {
			out = append(out, w)
		}
	}
	return out
}

// Every word of the first lines of the run in README.md is ordinary or explained.
func TestWordsOfAnswersAreExplained(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, answer, _ := strings.Cut(string(readme), "```\npredicts: ")
	answer, _, _ = strings.Cut(answer, "```")
	if out := unexplained(t, answer, "yaml", "json", "gpc-tune", "study", "yes", "model", "false", "glu", "age", "ped", "bmi", "npreg", "bp", "skin"); len(out) > 0 {
		t.Errorf("README.md: %q", out)
	}
}

// headings matches the headings of a page, and the names of its facts.
var headings = regexp.MustCompile(`(?s)<(h2|dt|th)\b[^>]*>(.*?)</(?:h2|dt|th)>`)

// Every heading of a page, every name of a fact and every status is explained, and so are the exit
// codes and the words of the glossary.
func TestWordsOfPagesAreExplained(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "small.yaml")
	const small = "version: 1\nname: small\nseed: 1\ndata: {dataset: crabs, subsample: 40}\n" +
		"model: {kernel: {se: {ard: true}}, likelihood: probit, inference: [laplace, logistic_regression]}\n" +
		"tune: {method: bfgs, restarts: 2}\nevaluate: {kfold: {k: 2}}\nreport: {formats: [html], curves: [calibration]}\n"
	if err := os.WriteFile(file, []byte(small), 0o666); err != nil {
		t.Fatal(err)
	}
	var out, log bytes.Buffer
	if code := run(t.Context(), nil, []string{"run", file, "-o", filepath.Join(dir, "run")}, nil, &out, &log); code != exitDone {
		t.Fatal(code, log.String())
	}
	page, err := os.ReadFile(filepath.Join(dir, "run", "report.html"))
	if err != nil {
		t.Fatal(err)
	}
	var words []string
	tags := regexp.MustCompile(`<[^>]*>`)
	for _, m := range headings.FindAllStringSubmatch(string(page), -1) {
		text := strings.Join(strings.Fields(html.UnescapeString(tags.ReplaceAllString(m[2], " "))), " ")
		text, _, _ = strings.Cut(text, ": ")
		if text != "F" && text != "M" { // the classes
			words = append(words, text)
		}
	}
	answer, _, _ := strings.Cut(out.String(), "\n\n")
	for line := range strings.Lines(answer) {
		name, _, _ := strings.Cut(line, ":")
		words = append(words, name)
	}
	if len(words) < 40 {
		t.Errorf("only %q", words)
	}
	for _, s := range []reports.Status{reports.Done, reports.Cut, reports.Dropped, reports.Failed, reports.Missing,
		reports.Winner, reports.InSet, reports.BelowBase} {
		words = append(words, string(s))
	}
	for _, s := range []objective.Status{objective.Converged, objective.Evaluated, objective.EvaluationLimit, objective.Stalled,
		objective.Interrupted, objective.Failed} {
		words = append(words, string(s))
	}
	words = append(words, "exit codes", "exit-codes", "nats", "nat", "bit", "ARD", "resume", "--resume", "skill", "keep it", "in the set", "Skill")
	for _, e := range exitCodes {
		words = append(words, fmt.Sprint(e.code))
	}
	slices.Sort(words)
	for _, w := range slices.Compact(words) {
		if w != "" && !explainedOrNot(t, w) {
			t.Errorf("%q is not explained", w)
		}
	}
}
