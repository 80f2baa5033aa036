//go:build linux

package main

import (
	"bytes"
	_ "embed"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gpc-tune/gpc-tune/experiments/data"
)

// bench is one run of the program.
type bench struct {
	page        bytes.Buffer
	conclusions []string // the first lines of the page
	dir         string   // folder of the files that pass between processes
	train, test string   // the digits, if they are there
	tenTrain    string
	spamFile    string
	ways        []*peer // Python with OpenBLAS as it comes, and with the kernels for this processor
	noGPBoost   string  // why the second of them has none; empty: it has
	r           *peer   // kernlab
	sets        []set
	stride      int
	rounds      int
	peak        float64 // floating-point operations a second of one core, from registers
}

// pageText holds the texts of the page, as formats. A comment before each text names it.
//
//go:embed page.md
var pageText string

// text is the text of that name.
func text(name string, args ...any) string {
	_, text, ok := strings.Cut(pageText, "<!-- "+name+" -->\n")
	if !ok {
		panic("page.md has no text " + name)
	}
	text, _, _ = strings.Cut(text, "<!-- ")
	return fmt.Sprintf(strings.TrimRight(text, "\n"), args...)
}

// say writes the text of that name.
func (b *bench) say(name string, args ...any) { b.page.WriteString(text(name, args...) + "\n\n") }

// conclude adds the summary of a section to the lines before the first section.
func (b *bench) conclude(section string, args ...any) {
	b.conclusions = append(b.conclusions, text(section+", in short", args...))
}

// publish writes the page, with out "-" to standard output.
func (b *bench) publish(out string) error {
	page := text("title", strings.Join(b.conclusions, "\n")) + "\n\n" + strings.TrimRight(b.page.String(), "\n") + "\n"
	if out == "-" {
		_, err := os.Stdout.WriteString(page)
		return err
	}
	return os.WriteFile(out, []byte(page), 0o666)
}

// span is the least and the greatest of some ratios.
func span(v []float64) string {
	least, most := twoDigits(slices.Min(v)), twoDigits(slices.Max(v))
	if least == most {
		return least
	}
	return least + " to " + most
}

// twoDigits is a ratio with two significant digits, or with all before the point.
func twoDigits(x float64) string {
	if x >= 99.5 {
		return fmt.Sprintf("%.0f", x)
	}
	return fmt.Sprintf("%.2g", x)
}

// table writes a table, whose rows already have their bars.
func (b *bench) table(header, rule string, rows ...string) {
	fmt.Fprintf(&b.page, "%s\n%s\n%s\n\n", header, rule, strings.Join(rows, "\n"))
}

// write puts numbers into a file.
func (b *bench) write(name string, parts ...[]float64) (path string) {
	var raw []byte
	for _, p := range parts {
		for _, v := range p {
			raw = binary.LittleEndian.AppendUint64(raw, math.Float64bits(v))
		}
	}
	path = filepath.Join(b.dir, name)
	must(os.WriteFile(path, raw, 0o600))
	return path
}

// load reads the problems and hands them to the peers: the crabs, which come with gpc-tune, and the
// digits 3 and 5 of USPS, which may not be distributed with it.
func (b *bench) load(digits string) {
	b.sets = append(b.sets, newSet("crabs", standardized(data.Spec{Dataset: "crabs"}), [2]float64{math.Log(3), 0}))
	b.spamFile = filepath.Join(digits, "spam.csv.gz")
	train, test := filepath.Join(digits, "usps_3v5_train.csv.gz"), filepath.Join(digits, "usps_3v5_test.csv.gz")
	if _, err := os.Stat(train); err == nil {
		b.train, b.test, b.tenTrain = train, test, filepath.Join(digits, "usps_resampled_train.csv.gz")
		usps := got(data.Load(data.Spec{Train: train, Test: test}, ".", 1))
		b.sets = append(b.sets, newSet("usps_3v5", usps, [2]float64{2.35, 2.85}))
	}
	for _, s := range b.sets {
		for _, p := range append([]*peer{b.r}, b.ways...) {
			b.hand(p, s)
		}
	}
}

// hand gives a problem to a peer.
func (b *bench) hand(p *peer, s set) {
	path := b.write(s.name, s.x.RawMatrix().Data, s.y.Value, s.z.RawMatrix().Data)
	n, d := s.x.Dims()
	m, _ := s.z.Dims()
	p.do("load set=%s path=%s n=%d d=%d m=%d", s.name, path, n, d, m)
}

// digits is the larger problem, if it is there; else the page says so.
func (b *bench) digits() (set, bool) {
	if b.train == "" {
		b.say("digits missing")
	}
	return b.sets[len(b.sets)-1], b.train != ""
}

// spam is the spam data, standardised, if they are there; else the page says so.
func (b *bench) spam() (*data.Data, bool) {
	if _, err := os.Stat(b.spamFile); err != nil {
		b.say("spam missing")
		return nil, false
	}
	return standardized(data.Spec{Train: b.spamFile}), true
}
