package comparator

import (
	"compress/gzip"
	"context"
	"encoding/csv"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/internal/testing/allocated"
	"github.com/gpc-tune/gpc-tune/internal/testing/needs"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// blobs draws n cases of overlapping, normally distributed clusters in the plane.
func blobs(n, classes int, seed uint64) objective.Data {
	rng := rand.New(rand.NewPCG(seed, 0))
	x, index := mat.NewDense(n, 2, nil), make([]int, n)
	for i := range n {
		index[i] = rng.IntN(classes)
		angle := 2 * math.Pi * float64(index[i]) / float64(classes)
		x.SetRow(i, []float64{1.2*math.Cos(angle) + rng.NormFloat64(), 1.2*math.Sin(angle) + rng.NormFloat64()})
	}
	d := objective.Data{X: &kernel.Inputs{X: x}, Y: approx.Targets{Classes: classes, Index: index}}
	if classes == 2 {
		d.Y = approx.Targets{Classes: 2, Value: against(index, 2, 0)}
	}
	return d
}

// each calls f with every comparator of the table, with a squared exponential kernel where it uses one.
func each(t *testing.T, f func(t *testing.T, c Comparator)) {
	for _, e := range Table {
		t.Run(e.Name, func(t *testing.T) {
			c, err := e.New(nil)
			if err != nil {
				t.Fatal(err)
			}
			if u, ok := c.(KernelUser); ok {
				c = u.With(kernel.SE{})
			}
			if err := c.Check(); err != nil {
				t.Fatal(err)
			}
			f(t, c)
		})
	}
}

func fitted(t *testing.T, c Comparator, d objective.Data) Fitted {
	t.Helper()
	f, err := c.Fit(context.Background(), d, 7)
	if err != nil {
		t.Fatal(err)
	}
	return f.(Fitted)
}

func predicted(f Fitted, z *kernel.Inputs, classes int) *mat.Dense {
	p := mat.NewDense(z.N(), classes, nil)
	f.PredictProba(p, z)
	return p
}

func TestEveryComparator(t *testing.T) {
	each(t, func(t *testing.T, c Comparator) {
		for _, classes := range []int{2, 3} {
			d, z := blobs(60, classes, 1), blobs(100, classes, 2)
			f := fitted(t, c, d)
			p := predicted(f, z.X, classes)
			s := f.Summary()
			names := make([]string, classes)
			for i := range names {
				names[i] = strconv.Itoa(i)
			}
			if want := len(c.Params(2, names)); len(s.Natural) != want || !s.Converged {
				t.Errorf("%d classes: %d hyperparameters, want %d; converged: %v", classes, len(s.Natural), want, s.Converged)
			}
			for i := range z.X.N() {
				row := p.RawRowView(i)
				if math.Abs(floats.Sum(row)-1) > 1e-12 || floats.Min(row) < 0 {
					t.Fatalf("%d classes: probabilities %v of case %d", classes, row, i)
				}
			}
			if again := predicted(fitted(t, c, d), z.X, classes); !mat.Equal(p, again) {
				t.Errorf("%d classes: the same fit twice predicts differently", classes)
			}
			index, counts, _ := counted(z)
			predictions, err := cv.NewPredictions(index, index, p, counts)
			if err != nil {
				t.Fatal(err)
			}
			right := 0
			for i, c := range index {
				if cv.Decide(predictions.Proba.RawRowView(i)) == c {
					right++
				}
			}
			if _, none := c.(BaseRate); !none && float64(right) < 0.6*float64(len(index)) {
				t.Errorf("%d classes: %d of %d right", classes, right, len(index))
			}
		}
	})
}

// TestRestore: a comparator restored from a state makes the same predictions, to the last bit, and
// has the same summary.
func TestRestore(t *testing.T) {
	each(t, func(t *testing.T, c Comparator) {
		for _, classes := range []int{2, 3} {
			d, z := blobs(60, classes, 1), blobs(100, classes, 2)
			f := fitted(t, c, d)
			s := f.State()
			again, err := c.Restore(objective.Data{X: &kernel.Inputs{X: d.X.X}, Y: d.Y, Scaled: true}, s)
			if err != nil {
				t.Fatal(err)
			}
			if p, q := predicted(f, z.X, classes), predicted(again, z.X, classes); !mat.Equal(p, q) {
				t.Errorf("%d classes: restored, it predicts differently", classes)
			}
			was, is := f.Summary(), again.Summary()
			if !slices.Equal(was.Natural, is.Natural) || math.Float64bits(was.LogEvidence) != math.Float64bits(is.LogEvidence) {
				t.Errorf("%d classes: %v with log evidence %v, restored %v with %v", classes, was.Natural, was.LogEvidence, is.Natural, is.LogEvidence)
			}
			if !slices.Equal(again.State(), s) {
				t.Errorf("%d classes: state %v, restored %v", classes, s, again.State())
			}
			wrong := []approx.State{append(slices.Clone(s), 1)}
			if len(s) > 0 {
				wrong = append(wrong, s[1:], nil)
			}
			for i := range s {
				for _, v := range []float64{math.NaN(), math.Inf(1)} {
					w := slices.Clone(s)
					w[i] = v
					wrong = append(wrong, w)
				}
			}
			for _, w := range wrong {
				if _, err := c.Restore(d, w); err == nil {
					t.Fatalf("%d classes: state %v: no error", classes, w)
				}
			}
		}
		numbers := objective.Data{X: &kernel.Inputs{X: mat.NewDense(3, 1, []float64{1, 2, 3})}, Y: approx.Targets{Value: []float64{1, 2, 3}}}
		if _, err := c.Restore(numbers, nil); err == nil {
			t.Error("numeric targets: no error")
		}
	})
}

// TestGroupsAreHeldOutTogether: every case occurs twice. If its copy is not held out with it, its neighbour predicts
// it perfectly, and a comparator is too confident on new cases.
func TestGroupsAreHeldOutTogether(t *testing.T) {
	each(t, func(t *testing.T, c Comparator) {
		for _, classes := range []int{2, 3} {
			once, z := blobs(60, classes, 1), blobs(300, classes, 2)
			twice := objective.Data{X: &kernel.Inputs{X: mat.NewDense(120, 2, nil)}, Y: approx.Targets{Classes: classes}}
			var names []string
			for i := range 120 {
				twice.X.X.SetRow(i, once.X.X.RawRowView(i/2))
				names = append(names, strconv.Itoa(i/2))
				if classes == 2 {
					twice.Y.Value = append(twice.Y.Value, once.Y.Value[i/2])
				} else {
					twice.Y.Index = append(twice.Y.Index, once.Y.Index[i/2])
				}
			}
			loss := func(f Fitted) (sum float64) {
				labels, _, _ := counted(z)
				p := predicted(f, z.X, classes)
				for i, c := range labels {
					sum -= math.Log(max(p.At(i, c), 1e-12)) / float64(len(labels))
				}
				return sum
			}
			alone := loss(fitted(t, c, twice))
			twice.Groups = names
			together := loss(fitted(t, c, twice))
			switch c.(type) {
			case P1NN, LeastSquares, SVM:
				if !(together < alone-0.05) {
					t.Errorf("%d classes: log loss %v, with groups %v", classes, alone, together)
				}
				twice.Groups = slices.Repeat([]string{"one"}, 120)
				if _, err := c.Fit(context.Background(), twice, 1); err == nil {
					t.Errorf("%d classes: one group: no error", classes)
				}
			case BaseRate: // it holds nothing out
				if together != alone {
					t.Errorf("%d classes: log loss %v, with groups %v", classes, alone, together)
				}
			case LogisticRegression: // with one group nothing is held out: it averages
				twice.Groups = slices.Repeat([]string{"one"}, 120)
				if s := fitted(t, c, twice).Summary(); s.Natural[1] != 0 {
					t.Errorf("%d classes: one group: %+v", classes, s)
				}
			default: // other comparators: groups increase no loss
				if together > alone {
					t.Errorf("%d classes: log loss %v, with groups %v", classes, alone, together)
				}
			}
		}
	})
}

// TestClassesAreAlike: the order of the classes does not change the predictions.
func TestClassesAreAlike(t *testing.T) {
	each(t, func(t *testing.T, c Comparator) {
		d, z := blobs(60, 3, 1), blobs(20, 3, 2)
		p := predicted(fitted(t, c, d), z.X, 3)
		order := []int{2, 0, 1}
		renamed := d
		renamed.Y.Index = make([]int, d.Y.Len())
		for i, c := range d.Y.Index {
			renamed.Y.Index[i] = order[c]
		}
		if _, folds := c.(SVM); folds {
			// These folds leave one case out: the order does not matter.
			c = SVM{Costs: []float64{1}, LengthScales: []float64{1}, Folds: d.Y.Len(), kernel: kernel.SE{}}
			p = predicted(fitted(t, c, d), z.X, 3)
		}
		q := predicted(fitted(t, c, renamed), z.X, 3)
		for i := range z.X.N() {
			for class, to := range order {
				if got, want := q.At(i, to), p.At(i, class); math.Abs(got-want) > 2e-5 {
					t.Fatalf("case %d, class %d: %v, renamed %v", i, class, want, got)
				}
			}
		}
	})
}

func TestWhatCannotBeFitted(t *testing.T) {
	each(t, func(t *testing.T, c Comparator) {
		numbers := objective.Data{X: &kernel.Inputs{X: mat.NewDense(3, 1, []float64{1, 2, 3})}, Y: approx.Targets{Value: []float64{1, 2, 3}}}
		if _, err := c.Fit(context.Background(), numbers, 1); err == nil {
			t.Error("numeric targets: no error")
		}
		ended, cancel := context.WithCancel(context.Background())
		cancel()
		if _, err := c.Fit(ended, blobs(20, 2, 1), 1); !errors.Is(err, context.Canceled) {
			t.Errorf("ended context: %v", err)
		}
		if _, base := c.(BaseRate); base {
			return
		}
		broken := blobs(20, 2, 1)
		broken.X.X.Set(3, 1, math.NaN())
		if _, err := c.Fit(context.Background(), broken, 1); err == nil {
			t.Error("an input that is NaN: no error")
		}
	})
}

func TestWrongShapesPanic(t *testing.T) {
	each(t, func(t *testing.T, c Comparator) {
		d := blobs(30, 2, 1)
		f := fitted(t, c, d)
		defer func() {
			if recover() == nil {
				t.Error("no panic")
			}
		}()
		f.PredictProba(mat.NewDense(30, 3, nil), d.X)
	})
}

// TestMemory: Memory of every comparator agrees with the memory that it allocates, up to a factor
// of 1.5 and 100 kB.
func TestMemory(t *testing.T) {
	one := 1.0
	each(t, func(t *testing.T, c Comparator) {
		for _, classes := range []int{2, 3} {
			const n, held = 300, 150
			if _, grid := c.(SVM); grid {
				c = SVM{Costs: []float64{0.1, 1}, LengthScales: []float64{1}, kernel: kernel.SE{}}
			}
			if _, tunes := c.(LeastSquares); tunes {
				c = LeastSquares{kernel: kernel.SE{LengthScale: param.Setting{Fixed: &one}, Amplitude: param.Setting{Fixed: &one}}}
			}
			d, z := blobs(n, classes, 1), blobs(held, classes, 2)
			kept, passing := allocated.Large(func() any {
				d.X = &kernel.Inputs{X: d.X.X}
				f, err := c.Fit(context.Background(), d, 1)
				if err != nil {
					t.Fatal(err)
				}
				f.PredictProba(mat.NewDense(held, classes, nil), &kernel.Inputs{X: z.X.X})
				return []any{f, d.X}
			})
			said := c.Memory(approx.Size{Cases: n, Distinct: n, New: held, Classes: classes, Kernels: 1}, 2)
			if float64(kept) > 1.5*float64(said)+1e5 {
				t.Errorf("%d classes: keeps %d bytes, and says %d", classes, kept, said)
			}
			t.Logf("%d classes: kept %d, passing %d, said %d", classes, kept, passing, said)
		}
	})
}

func TestBaseRate(t *testing.T) {
	d := objective.Data{X: &kernel.Inputs{X: mat.NewDense(4, 1, nil)}, Y: approx.Targets{Classes: 3, Index: []int{0, 2, 2, 1}}}
	p := predicted(fitted(t, BaseRate{}, d), d.X, 3)
	if !slices.Equal(p.RawRowView(3), []float64{0.25, 0.25, 0.5}) {
		t.Errorf("%v", p.RawRowView(3))
	}
}

// digits reads the threes and fives of GPML 3.7.3.
func digits(t *testing.T, part string) objective.Data {
	file, err := os.Open(needs.Data(t, "usps_3v5_"+part+".csv.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(unzipped).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	rows = rows[1:]
	d := objective.Data{X: &kernel.Inputs{X: mat.NewDense(len(rows), 256, nil)}, Y: approx.Targets{Classes: 2}}
	for i, row := range rows {
		for j := range 257 {
			v, err := strconv.ParseFloat(row[j], 64)
			if err != nil {
				t.Fatal(err)
			}
			if j < 256 {
				d.X.X.Set(i, j, v)
			} else {
				d.Y.Value = append(d.Y.Value, v-4)
			}
		}
	}
	return d
}

// scores returns the number of test errors and the test information in bits.
func scores(t *testing.T, f Fitted, train, test objective.Data) (wrong int, information float64) {
	t.Helper()
	labels, _, _ := counted(test)
	_, counts, _ := counted(train)
	p, err := cv.NewPredictions(make([]int, len(labels)), labels, predicted(f, test.X, len(counts)), counts)
	if err != nil {
		t.Fatal(err)
	}
	for i := range p.Cases {
		p.Cases[i] = i
	}
	results, _, _ := cv.Evaluate(p)
	for _, r := range results {
		switch r.Name {
		case "errors":
			wrong = int(r.Value)
		case "information_bits":
			information = r.Value
		}
	}
	return wrong, information
}

// A comparator from the table predicts as its zero value does.
func TestDefaultsAreThoseOfZero(t *testing.T) {
	each(t, func(t *testing.T, c Comparator) {
		zero := reflect.Zero(reflect.TypeOf(c)).Interface().(Comparator)
		if u, ok := zero.(KernelUser); ok {
			zero = u.With(kernel.SE{})
		}
		d, z := blobs(40, 2, 1), blobs(10, 2, 2).X
		if got, want := predicted(fitted(t, c, d), z, 2), predicted(fitted(t, zero, d), z, 2); !mat.Equal(got, want) {
			t.Errorf("%v, of zero %v", mat.Formatted(got), mat.Formatted(want))
		}
	})
}
