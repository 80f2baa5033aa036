package data

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
)

// Repeated is the number of cases that repeat an earlier one, with equal inputs, missing values
// included, and an equal label. Identifiers and columns that are left out do not count.
func (d *Data) Repeated() (n int) {
	seen := map[string]bool{}
	var key []byte
	for i := range d.Rows {
		key = key[:0]
		for _, v := range d.X.RawRowView(i) {
			key = binary.LittleEndian.AppendUint64(key, math.Float64bits(v+0)) // -0 becomes 0
		}
		if d.Labels != nil {
			key = binary.LittleEndian.AppendUint64(key, uint64(d.Labels[i]))
		} else {
			key = binary.LittleEndian.AppendUint64(key, math.Float64bits(d.Targets[i]))
		}
		if seen[string(key)] {
			n++
		}
		seen[string(key)] = true
	}
	return n
}

// alike returns a group for every case: cases with equal inputs have the same one, named after the
// first of them in the file. Missing values are equal. Labels do not count. If they did, a case
// could be tested after training on equal inputs with other labels only.
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
