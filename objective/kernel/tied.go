package kernel

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gpc-tune/gpc-tune/approx/param"
)

// Tied is a kernel with ARD in which some columns share a length scale, as the indicators of one
// categorical input do: Group has a number for each column, and columns with equal numbers share a
// length scale. The length scale has the name of the first column of its group.
type Tied struct {
	Group []int
	Named
}

// Tie is k with its length scales of single columns shared within groups (see Tied). If every
// column is a group of its own, Tie returns k.
func Tie(k Kernel, group []int) Kernel {
	if len(slices.Compact(slices.Sorted(slices.Values(group)))) == len(group) {
		return k
	}
	switch c := k.(type) {
	case Active:
		if c.checkDim(len(group)) != nil {
			return k // CheckDim refuses it
		}
		own := make([]int, len(c.Dims))
		for i, d := range c.Dims {
			own[i] = group[d-1]
		}
		c.Kernel = Tie(c.Kernel, own)
		return c
	case Additive:
		return Tie(c.over(group), group)
	case combination:
		parts, _ := c.parts(len(group))
		tied := make([]Named, len(parts))
		for i, p := range parts {
			tied[i] = Named{p.Kind, Tie(p.Kernel, group)}
		}
		return c.with(tied)
	}
	t := Tied{Group: group, Named: Named{Kernel: k}}
	if places, n := t.places(len(group)); n == len(places) {
		return k
	}
	return t
}

// group returns the group of a column. A column beyond the end of Group is a group of its own.
func (t Tied) group(column int) int {
	if column < len(t.Group) {
		return t.Group[column]
	}
	return -1 - column
}

// places maps each hyperparameter of the kernel itself to its position in theta of the tied kernel.
// n is the number of hyperparameters of the tied kernel.
func (t Tied) places(dim int) (places []int, n int) {
	met := map[string]int{}
	for _, s := range t.Kernel.Params(dim) {
		name := s.Name
		if s.Column > 0 {
			name, _, _ = strings.Cut(s.Name, "[")
			name = fmt.Sprintf("%s[%d", name, t.group(s.Column-1))
		}
		place, is := met[name]
		if !is {
			place, met[name] = n, n
			n++
		}
		places = append(places, place)
	}
	return places, n
}

// Params lists the kernel's hyperparameters, with the first length scale of each group only.
func (t Tied) Params(dim int) (specs []param.Spec) {
	places, _ := t.places(dim)
	for i, s := range t.Kernel.Params(dim) {
		if places[i] == len(specs) {
			specs = append(specs, s)
		}
	}
	return specs
}

// parts returns the kernel itself with the number of groups as its number of columns. It serves to
// count hyperparameters.
func (t Tied) parts(dim int) ([]Named, int) {
	groups := map[int]bool{}
	for c := range dim {
		groups[t.group(c)] = true
	}
	return []Named{t.Named}, len(groups)
}

func (t Tied) with(parts []Named) Kernel { return Tied{t.Group, parts[0]} }

func (t Tied) checkDim(dim int) error {
	if dim != len(t.Group) {
		return fmt.Errorf("tied length scales are for %d columns, not %d", len(t.Group), dim)
	}
	return CheckDim(t.Kernel, dim)
}

// Memory implements Kernel: the memory of the kernel itself.
func (t Tied) Memory(n, m, dim int) int64 { return t.Kernel.Memory(n, m, dim) }

// untied is theta of the kernel itself.
func (t Tied) untied(theta []float64, dim int) []float64 {
	places, _ := t.places(dim)
	own := make([]float64, len(places))
	for i, place := range places {
		own[i] = theta[place]
	}
	return own
}

func (t Tied) Fill(dst Block, theta []float64) {
	t.Kernel.Fill(dst, t.untied(theta, dst.X.Dim()))
}

// Pull implements Kernel: the derivatives within a group add up.
func (t Tied) Pull(grad, theta []float64, own, g Block) {
	places, _ := t.places(g.X.Dim())
	apart := make([]float64, len(places))
	t.Kernel.Pull(apart, t.untied(theta, g.X.Dim()), own, g)
	for i, place := range places {
		grad[place] += apart[i]
	}
}
