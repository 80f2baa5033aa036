package exhaustive

import "testing"

// TestTries counts the cells of a grid of 3 x 4 x 2 that are tried, in all and at every level.
func TestTries(t *testing.T) {
	for set, want := range map[string]int{"": 8, "1": 24} {
		t.Setenv("GPC_TUNE_TEST_ALL", set)
		cells, levels := 0, map[[2]int]int{}
		for i := range 3 {
			for j := range 4 {
				for k := range 2 {
					if Tries(3, i, j, k) {
						cells++
						for factor, level := range []int{i, j, k} {
							levels[[2]int{factor, level}]++
						}
					}
				}
			}
		}
		if cells != want || len(levels) != 3+4+2 {
			t.Errorf("%q: %d cells with %d levels, want %d with 9", set, cells, len(levels), want)
		}
		if got, all := Of(2, 5), set != ""; All() != all || got != map[bool]int{false: 2, true: 5}[all] {
			t.Errorf("%q: all %v, %d of 5", set, All(), got)
		}
	}
}
