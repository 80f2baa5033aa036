package data

import (
	"cmp"
	"fmt"
	"slices"
)

// alike names, for every case, the first one in the file with the same inputs, as a group. A
// missing value is the same as another. Labels do not count: were cases of equal inputs in groups
// by their labels, a case would be tested after training on those of the other labels alone.
func (d *Data) alike() []string {
	n, _ := d.X.Dims()
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	compare := func(i, j int) int { return slices.Compare(d.X.RawRowView(i), d.X.RawRowView(j)) }
	slices.SortFunc(order, func(i, j int) int { return cmp.Or(compare(i, j), cmp.Compare(i, j)) })
	groups, first := make([]string, n), 0
	for k, i := range order {
		if k == 0 || compare(i, order[k-1]) != 0 {
			first = i
		}
		groups[i] = fmt.Sprintf("like row %d", d.Rows[first]+1)
	}
	return groups
}
