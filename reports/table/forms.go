package table

import (
	"fmt"
	"io"

	"github.com/gpc-tune/gpc-tune/internal/registry"
)

// Forms are the formats of a T, by name.
type Forms[T any] []Form[T]

// Form is one format.
type Form[T any] struct {
	Name   string
	Render func(io.Writer, T) error
}

// Names lists them.
func (f Forms[T]) Names() (names []string) {
	for _, form := range f {
		names = append(names, form.Name)
	}
	return names
}

// Named returns the format with this name.
func (f Forms[T]) Named(name string) (func(io.Writer, T) error, error) {
	for _, form := range f {
		if form.Name == name {
			return form.Render, nil
		}
	}
	return nil, fmt.Errorf("unknown format %q%s", name, registry.Suggest(name, f.Names()))
}
