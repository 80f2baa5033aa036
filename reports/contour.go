package reports

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// levels are heights for contours of values, from the lowest to the highest: round numbers below the greatest value,
// ever farther apart (1, 2, 5, 10, … below it), as in GPML Figures 3.7 and 3.8. So they are dense where a surface is
// flat, around its best point, and its steep flanks do not crowd out the rest.
func levels(values []float64) (at []float64, labels []string) {
	const most = 6
	sorted := slices.Sorted(slices.Values(values))
	lowest, top := sorted[len(sorted)/20], sorted[len(sorted)-1] // what is lower is left without contours
	if top-lowest <= max(1e-9*math.Abs(top), 1e-100) {
		return nil, nil // flat
	}
	for e := int(math.Floor(math.Log10(top - lowest))); len(at) < most; e-- {
		for _, step := range []struct{ below, round float64 }{{5, 5}, {2, 1}, {1, 0.5}} {
			unit := step.round * math.Pow10(e)
			level := math.Floor((top-step.below*math.Pow10(e))/unit+1e-9) * unit
			if level <= lowest || len(at) == most {
				continue
			}
			digits := max(0, -int(math.Floor(math.Log10(unit))))
			label := number(level, digits)
			if digits > 0 && digits <= 6 {
				label = strings.TrimRight(strings.TrimRight(label, "0"), ".")
			}
			at, labels = append(at, level), append(labels, label)
		}
	}
	return at, labels
}

// node is a corner of a grid, or where a level crosses the edge from that corner to the next one along x or y.
type node struct {
	i, j  int
	along byte // 0, 'x' or 'y'
}

// outline is the boundary of the region where z is at least the level, as closed loops of nodes. z is linear along the
// edges of the grid; cells with a corner that is NaN are left out. A cell with two opposite corners in the region
// connects them if its mean is in it.
func outline(z [][]float64, level float64) [][]node {
	type edge struct{ from, to node }
	var edges []edge
	boundary := map[edge]bool{}
	for i := 0; i+1 < len(z); i++ {
		for j := 0; j+1 < len(z[i]); j++ {
			for _, part := range cell(z, i, j, level) {
				for k, from := range part {
					e := edge{from, part[(k+1)%len(part)]}
					if back := (edge{e.to, e.from}); boundary[back] {
						delete(boundary, back) // both sides are in the region
						continue
					}
					boundary[e] = true
					edges = append(edges, e)
				}
			}
		}
	}
	next := map[node][]node{}
	for _, e := range edges {
		if boundary[e] {
			next[e.from] = append(next[e.from], e.to)
		}
	}
	var loops [][]node
	for _, e := range edges {
		for len(next[e.from]) > 0 {
			var loop []node
			for at := e.from; len(next[at]) > 0; {
				loop = append(loop, at)
				to := next[at][0]
				next[at] = next[at][1:]
				at = to
			}
			loops = append(loops, loop)
		}
	}
	return loops
}

// cell is the part of the region within a cell: no polygon, one, or two.
func cell(z [][]float64, i, j int, level float64) [][]node {
	corners := [4]node{{i, j, 0}, {i + 1, j, 0}, {i + 1, j + 1, 0}, {i, j + 1, 0}}
	crossings := [4]node{{i, j, 'x'}, {i + 1, j, 'y'}, {i, j + 1, 'x'}, {i, j, 'y'}} // after each corner
	var in [4]bool
	mean := 0.0
	for k, c := range corners {
		v := z[c.i][c.j]
		if math.IsNaN(v) {
			return nil
		}
		in[k] = v >= level
		mean += v / 4
	}
	var whole []node
	var apart [][]node
	for k, c := range corners {
		if in[k] {
			whole = append(whole, c)
			apart = append(apart, []node{crossings[(k+3)%4], c, crossings[k]})
		}
		if in[k] != in[(k+1)%4] {
			whole = append(whole, crossings[k])
		}
	}
	switch {
	case len(whole) == 0:
		return nil
	case len(whole) == 6 && mean < level: // opposite corners
		return apart
	}
	return [][]node{whole}
}

// viridis goes from dark to light with evenly growing luminance, so that it can be read by the colour-blind and in
// grey; its colours are those of Smith & van der Walt's map at 0, 1/8, … 1.
var viridis = [9][3]float64{
	{0x44, 0x01, 0x54}, {0x47, 0x2d, 0x7b}, {0x3b, 0x52, 0x8b}, {0x2c, 0x72, 0x8e}, {0x21, 0x91, 0x8c},
	{0x28, 0xae, 0x80}, {0x5e, 0xc9, 0x62}, {0xad, 0xdc, 0x30}, {0xfd, 0xe7, 0x25},
}

// shade is the k-th of the colours 0 … last from worst to best: viridis, paled so that black text can be read on it.
func shade(k, last int) string {
	const pale = 0.55
	place := float64(k) / float64(max(1, last)) * float64(len(viridis)-1)
	k = min(int(place), len(viridis)-2)
	text := "#"
	for c := range 3 {
		v := viridis[k][c] + (place-float64(k))*(viridis[k+1][c]-viridis[k][c])
		text += fmt.Sprintf("%02x", int(math.Round(v+pale*(255-v))))
	}
	return text
}
