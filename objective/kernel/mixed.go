package kernel

import (
	"errors"
	"slices"
)

// Mixed is k for inputs in which some columns hold category numbers. Hamming kernels get these
// columns, and all other kernels of inputs get the other columns, unless active gives the columns
// of a kernel. It is an error if a kernel has no columns, or a column belongs to no kernel.
func Mixed(k Kernel, categories []bool) (Kernel, error) {
	if !slices.Contains(categories, true) {
		return k, nil
	}
	m := &mixed{categories: categories}
	for c, is := range categories {
		if is {
			m.names = append(m.names, c+1)
		} else {
			m.numbers = append(m.numbers, c+1)
		}
	}
	k, err := m.kernel(k)
	switch {
	case err != nil:
		return nil, err
	case !m.named:
		return nil, errors.New("no kernel uses the categories; add hamming, as in {product: [{se: {ard: true}}, " +
			"hamming]} or {sum: [se, hamming]}, or set categorical: one_hot")
	}
	return k, nil
}

// mixed is the state of Mixed while it goes through the kernels.
type mixed struct {
	categories     []bool
	names, numbers []int // columns, from 1
	named          bool  // a kernel has the columns of categories
}

func (m *mixed) kernel(k Kernel) (Kernel, error) {
	switch c := k.(type) {
	case Active:
		return m.active(c)
	case Additive: // of numbers
	case combination:
		parts, _ := c.parts(len(m.categories))
		out := make([]Named, len(parts))
		for i, p := range parts {
			of, err := m.kernel(p.Kernel)
			if err != nil {
				return nil, err
			}
			out[i] = Named{p.Kind, of}
		}
		return c.with(out), nil
	case Constant, Noise:
		return k, nil
	case Hamming:
		m.named = true
		return Active{m.names, Named{Kernel: k}}, nil
	}
	if len(m.numbers) == 0 {
		return nil, errors.New("all inputs are categories, and only hamming uses them; set kernel: hamming, or " +
			"categorical: one_hot")
	}
	return Active{m.numbers, Named{Kernel: k}}, nil
}

// active returns an error if a kernel on selected columns would take categories for numbers.
func (m *mixed) active(a Active) (Kernel, error) {
	for _, leaf := range Leaves(a, len(m.categories)) {
		_, hamming := leaf.Kernel.(Hamming)
		m.named = m.named || hamming
		for _, c := range a.Dims {
			if !hamming && c >= 1 && c <= len(m.categories) && m.categories[c-1] {
				return nil, errors.New("active: dims name a column of categories, which only hamming can use")
			}
		}
	}
	return a, nil
}
