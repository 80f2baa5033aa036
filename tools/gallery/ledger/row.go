// Package ledger compares every published number of the gallery's ledger with the value found here.
//
// The ledger (experiments/gallery/ledger.csv) holds facts: what a source prints, and where. A Claim
// describes how the value of a row is found from the runs of the gallery's experiments, or why it
// cannot be found. Judge compares the two. No value of a run is typed by hand.
package ledger

import (
	"encoding/csv"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/gpc-tune/gpc-tune/experiments/gallery"
)

// columns are the columns of ledger.csv.
var columns = []string{"source", "place", "setting", "quantity", "published", "digits", "remark"}

// Row is one published number, or another statement that can be checked.
type Row struct {
	Source, Place, Setting, Quantity string
	Published                        string // as printed
	Digits                           string // number of printed digits, or "exact", "-" or "computed"
	Remark                           string
}

// Key names a row within its source: "place | setting | quantity".
func (r Row) Key() string { return strings.Join([]string{r.Place, r.Setting, r.Quantity}, " | ") }

// String names a row.
func (r Row) String() string { return r.Source + ": " + r.Key() }

func (r Row) fields() []string {
	return []string{r.Source, r.Place, r.Setting, r.Quantity, r.Published, r.Digits, r.Remark}
}

// Rows reads the ledger that comes with the program.
func Rows() ([]Row, error) { return read(gallery.Ledger) }

// read reads a ledger.
func read(text string) ([]Row, error) {
	records, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("ledger.csv: %w", err)
	}
	if len(records) == 0 || !slices.Equal(records[0], columns) {
		return nil, fmt.Errorf("ledger.csv: the first line must be %s", strings.Join(columns, ","))
	}
	var rows []Row
	for _, f := range records[1:] {
		rows = append(rows, Row{f[0], f[1], f[2], f[3], f[4], f[5], f[6]})
	}
	return rows, nil
}

var number = regexp.MustCompile(`-?[0-9]+(\.[0-9]+)?`)

// Figure is the first published number and its uncertainty, half a unit of its last printed digit.
// An exact number has uncertainty 0.
func (r Row) Figure() (value, uncertainty float64, err error) {
	text := number.FindString(r.Published)
	value, err = strconv.ParseFloat(text, 64)
	if err != nil {
		return 0, 0, fmt.Errorf("%v: no number in %q", r, r.Published)
	}
	if r.Digits == "exact" {
		return value, 0, nil
	}
	_, decimals, fraction := strings.Cut(text, ".")
	unit := -len(decimals)
	// Digits is the number of digits of a whole number that count: 8000 with one digit is 8000 ±
	// 500.
	if n, err := strconv.Atoi(r.Digits); err == nil && !fraction && value != 0 {
		unit = max(0, int(math.Floor(math.Log10(math.Abs(value))))+1-n)
	}
	return value, 0.5 * math.Pow10(unit), nil
}
