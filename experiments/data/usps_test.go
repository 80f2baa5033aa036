package data

import (
	"compress/gzip"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/internal/testing/needs"
)

// digitsOf makes n random cases in the form of the digits.
func digitsOf(r *rand.Rand, n int) *Data {
	d := &Data{X: mat.NewDense(n, uspsSide*uspsSide, nil), Rows: make([]int, n)}
	for c := range 10 {
		d.Classes = append(d.Classes, strconv.Itoa(c))
	}
	for i := range n {
		d.Labels = append(d.Labels, i%10)
		for j := range uspsSide * uspsSide {
			d.X.Set(i, j, 2*r.Float64()-1)
		}
	}
	return d
}

// Compared with the two-dimensional sum, case by case, in an order found by counting smaller draws.
func TestUSPSFilesByTheirDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	d := digitsOf(r, 23)
	d.Test = digitsOf(r, 17)
	const n = 40
	var draws [n]int64
	for i, x := 0, int64(1769472); i < n; i++ {
		x = 16807 * x % 2147483647
		draws[i] = x
	}
	var rows [n]string // rows of the file with all cases
	for i := range n {
		place := 0
		for _, v := range draws {
			if v < draws[i] {
				place++
			}
		}
		from, k := d, i
		if k >= 23 {
			from, k = d.Test, k-23
		}
		var cells []string
		for y := range 16 {
			for x := range 16 {
				sum, norm := 0.0, 0.0
				for a := -3; a <= 3; a++ {
					for b := -3; b <= 3; b++ {
						w := math.Exp(-float64(a*a+b*b) / (2 * 0.75 * 0.75))
						norm += w
						if y+a >= 0 && y+a < 16 && x+b >= 0 && x+b < 16 {
							sum += w * (from.X.At(k, 16*(y+a)+x+b) + 1)
						}
					}
				}
				cells = append(cells, fmt.Sprintf("%.7f", sum/norm-1))
			}
		}
		rows[place] = strings.Join(append(cells, from.Classes[from.Labels[k]]), ",")
	}
	halves := [2][]string{rows[:20], rows[20:]}
	for k, f := range uspsFiles(d) {
		var want []string
		for _, row := range halves[k%2] {
			if label := row[len(row)-1:]; k < 2 || label == "3" || label == "5" {
				want = append(want, row)
			}
		}
		lines := strings.Split(strings.TrimSpace(string(f.Text)), "\n")
		if lines[0][:10] != "p0_0,p0_1," || !strings.HasSuffix(lines[0], ",p15_15,label") || len(lines) != len(want)+1 {
			t.Fatalf("%s: %d lines with the header %q, want %d", f.Name, len(lines), lines[0], len(want)+1)
		}
		for i, row := range want {
			got, want := strings.Split(lines[i+1], ","), strings.Split(row, ",")
			for j := range want {
				a, _ := strconv.ParseFloat(got[j], 64)
				b, _ := strconv.ParseFloat(want[j], 64)
				if math.Abs(a-b) > 1e-9 {
					t.Fatalf("%s, row %d, column %d: %s, want %s", f.Name, i, j, got[j], want[j])
				}
			}
		}
	}
}

// The public files, in either form, give the files that others rebuilt, byte for byte, in the
// recorded order.
func TestRepartitionUSPS(t *testing.T) {
	train, test := needs.Data(t, "usps_train.csv.gz"), needs.Data(t, "usps_test.csv.gz")
	files, err := RepartitionUSPS(train, test)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if got, want := string(f.Text), unzipped(t, needs.Data(t, f.Name+".gz")); got != want {
			t.Errorf("%s differs", f.Name)
		}
	}
	index, err := os.ReadFile(needs.Data(t, "usps_resampled_index.csv"))
	if err != nil {
		t.Fatal(err)
	}
	order := uspsOrder(uspsTrain + uspsTest)
	for i, line := range strings.Split(strings.TrimSpace(string(index)), "\n")[1:] {
		from, row := "train", order[i]+1
		if row > uspsTrain {
			from, row = "test", row-uspsTrain
		}
		if want := fmt.Sprintf(",%s,%d,", from, row); !strings.Contains(line, want) {
			t.Fatalf("case %d: %s on record, here%s", i, line, want)
		}
	}

	// zip.train has the label first, no header, and blanks
	zip := func(name, text string) string {
		lines := strings.Split(strings.TrimSpace(text), "\n")[1:]
		for i, line := range lines {
			cells := strings.Split(line, ",")
			last := len(cells) - 1
			lines[i] = cells[last] + ".0000 " + strings.Join(cells[:last], " ")
		}
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(strings.Join(lines, " \n")), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	again, err := RepartitionUSPS(zip("zip.train", unzipped(t, train)), zip("zip.test", unzipped(t, test)))
	if err != nil {
		t.Fatal(err)
	}
	if string(again[0].Text) != string(files[0].Text) {
		t.Error("zip.train gives other digits than the CSV file")
	}

	if _, err := RepartitionUSPS(test, train); err == nil || !strings.Contains(err.Error(), "2007 cases") || !strings.Contains(err.Error(), "give zip.train and then zip.test") {
		t.Errorf("exchanged files: %v", err)
	}
}

func unzipped(t *testing.T, path string) string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
