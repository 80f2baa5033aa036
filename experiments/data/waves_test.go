package data

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The state of numpy.random.default_rng(seed), as numpy 1.24.2 has it in bit_generator.state, in hexadecimal.
func TestGeneratorIsNumpys(t *testing.T) {
	for seed, want := range map[uint32]string{
		0:          "1aa1b5345996452d09585eb7a69561e3 418ddadb3af71a82588133bc447873a9",
		1:          "9c5b484bfedb756c2a6e7d6f320fbc7e 922af2da2645f895a19857b95740937b",
		20240501:   "ff9e34524afaacb5bf3cf962bb56fcdc efc18ec782f288de47033bab64eb4919",
		4294967295: "4c233832246aa48cc57a3ce19c86ba9a da9580daf0fe872cad12d969e7b701fb",
	} {
		r := newPCG64(seed)
		if got := fmt.Sprintf("%016x%016x %016x%016x", r.state.hi, r.state.lo, r.increment.hi, r.increment.lo); got != want {
			t.Errorf("seed %d: %s, want %s", seed, got, want)
		}
	}
	r := newPCG64(20240501)
	for i, want := range []float64{-1.3851126954359512, -0.8044552154853979, -2.879702395946678, -2.0962802974903996, -0.999238860695546} {
		if got := r.uniform(-3, 3); got != want {
			t.Errorf("draw %d: %v, want %v", i, got, want)
		}
	}
}

// sums returns the SHA-256 of the little-endian float64 of the inputs, row by row, and of the
// labels as bytes, cut to 16 digits.
func sums(x []float64, labels []int) string {
	var a, b bytes.Buffer
	for _, v := range x {
		binary.Write(&a, binary.LittleEndian, math.Float64bits(v))
	}
	for _, y := range labels {
		b.WriteByte(byte(y))
	}
	return fmt.Sprintf("%x %x", sha256.Sum256(a.Bytes()), sha256.Sum256(b.Bytes()))
}

// The expected sums are from the arrays of the program in the comment of Waves, run with numpy
// 1.24.2.
func TestWavesAreNumpys(t *testing.T) {
	for _, c := range []struct {
		n, inputs, ones, testOnes int
		sumX, sumY                string
	}{
		{20000, 2, 8537, 2121, "a86d5c06a65ca937", "cc4c46422408e693"},
		{50000, 2, 21436, 2143, "1e2854eac64fd627", "b1741f68a9c785fe"},
		{1000, 10, 423, 2101, "70baf258b6a80d0d", "103dea8b0d1f5ee1"},
	} {
		x, y := waves(c.n+wavesTests, c.inputs)
		found := strings.Fields(sums(x.RawMatrix().Data, y))
		ones, testOnes := 0, 0
		for i, label := range y {
			if i < c.n {
				ones += label
			} else {
				testOnes += label
			}
		}
		if found[0][:16] != c.sumX || found[1][:16] != c.sumY || ones != c.ones || testOnes != c.testOnes {
			t.Errorf("%d cases of %d inputs: sums %s, %d and %d of class 1", c.n, c.inputs, found, ones, testOnes)
		}
	}
}

// Reading the files gives the drawn values, to the last bit.
func TestWavesAreReadAsTheyWereDrawn(t *testing.T) {
	files, err := Waves(300, 3)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for i, name := range []string{"waves_300x3_train.csv", "waves_300x3_test.csv"} {
		if files[i].Name != name {
			t.Errorf("file %s, want %s", files[i].Name, name)
		}
		if err := os.WriteFile(filepath.Join(dir, name), files[i].Text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	d, err := Load(Spec{Train: files[0].Name, Test: files[1].Name}, dir, 1)
	if err != nil {
		t.Fatal(err)
	}
	x, y := waves(300+wavesTests, 3)
	read := slices.Concat(d.X.RawMatrix().Data, d.Test.X.RawMatrix().Data)
	if !slices.Equal(read, x.RawMatrix().Data) || !slices.Equal(slices.Concat(d.Labels, d.Test.Labels), y) {
		t.Error("what is read is not what was drawn")
	}
	for _, c := range [][2]int{{1, 2}, {10, 1}, {1 << 27, 2}, {10, 1 << 20}} {
		if _, err := Waves(c[0], c[1]); err == nil {
			t.Errorf("%d cases of %d inputs are drawn", c[0], c[1])
		}
	}
}
