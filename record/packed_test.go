package record

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// numbers returns n numbers that include every special value.
func numbers(n int) []Number {
	r := rand.New(rand.NewPCG(1, uint64(n)))
	all := []Number{Number(math.NaN()), Number(math.Inf(1)), Number(math.Inf(-1)), Number(math.Copysign(0, -1)), 5e-324, math.MaxFloat64, 0.1}
	for len(all) < n {
		all = append(all, Number(math.Float64frombits(r.Uint64())))
	}
	return all[:n]
}

// same reports whether the bits are the same; all NaNs count as the same.
func same(a, b Number) bool {
	return math.Float64bits(float64(a)) == math.Float64bits(float64(b)) || a.None() && b.None()
}

func TestNumbersComeBackToTheLastBit(t *testing.T) {
	for _, n := range []int{0, 1, 7, packedFrom - 1, packedFrom, packedFrom + 2} {
		list := Vector(numbers(n))
		text, err := json.Marshal(list)
		if err != nil {
			t.Fatal(err)
		}
		if packed := text[0] == '"'; packed != (n >= packedFrom) {
			t.Errorf("%d numbers begin with %.20s", n, text)
		}
		arrays, _ := json.Marshal([]Number(list)) // the form of older journals
		for _, form := range [][]byte{text, arrays} {
			var back Vector
			if err := json.Unmarshal(form, &back); err != nil || !slices.EqualFunc(back, list, same) {
				t.Errorf("%d numbers come back as others, or %v", n, err)
			}
		}
	}
	for _, shape := range [][]int{{2, 2, 2}, slices.Repeat([]int{2}, packedFrom/2), {packedFrom, packedFrom},
		{packedFrom}, {packedFrom, 3, 3}, {0, packedFrom}, {packedFrom, 0}, slices.Repeat([]int{3}, 3333)} {
		var rows Matrix
		all := 0
		for _, n := range shape {
			rows, all = append(rows, numbers(n)), all+n
		}
		text, err := json.Marshal(rows)
		if err != nil {
			t.Fatal(err)
		}
		even := len(slices.Compact(slices.Clone(shape))) == 1
		if packed := text[0] == '"'; packed != (even && all >= packedFrom) {
			t.Errorf("rows of %d, … numbers begin with %.20s", shape[0], text)
		}
		arrays, _ := json.Marshal([][]Number(rows))
		for _, form := range [][]byte{text, arrays} {
			var back Matrix
			if err := json.Unmarshal(form, &back); err != nil || !slices.EqualFunc(back, rows, func(a, b []Number) bool { return slices.EqualFunc(a, b, same) }) {
				t.Errorf("rows of %d, … numbers come back as others, or %v", shape[0], err)
			}
		}
	}
}

// A missing number has one form, whichever of the many NaNs it is.
func TestNumbersThatAreMissingAreTheSame(t *testing.T) {
	one, other := numbers(packedFrom), numbers(packedFrom)
	one[1], other[1] = Number(math.NaN()), Number(math.Float64frombits(0xfff8_0000_0000_1234))
	if !other[1].None() {
		t.Fatal(other[1])
	}
	a, first := json.Marshal(Vector(one))
	b, second := json.Marshal(Vector(other))
	if first != nil || second != nil || string(a) != string(b) {
		t.Errorf("%v, %v, and equal %v", first, second, string(a) == string(b))
	}
}

func TestTextsThatAreNoNumbers(t *testing.T) {
	eight := strings.Repeat("A", 11) + "="
	for _, text := range []string{`""`, `"1"`, `"1:"x`, `":` + eight + `"`, `"0:` + eight + `"`, `"-1:` + eight + `"`, `"3:` + eight + `"`, `"2:` + eight[1:] + `"`, `"2:` + strings.Repeat("A", 32) + `"`, `"1:!"`, `{}`, `[1,"x"]`} {
		var v Vector
		var m Matrix
		if err := json.Unmarshal([]byte(text), &v); err == nil {
			t.Errorf("%s is the list %v", text, v)
		}
		if err := json.Unmarshal([]byte(text), &m); err == nil {
			t.Errorf("%s are the rows %v", text, m)
		}
	}
	var v Vector
	if err := json.Unmarshal([]byte(`"2:`+strings.Repeat("A", 22)+`=="`), &v); err == nil {
		t.Error("rows of two are a list")
	}
}
