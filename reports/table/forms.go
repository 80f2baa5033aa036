package table

import (
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
	form, err := registry.Find("format", name, f, func(form Form[T]) string { return form.Name })
	return form.Render, err
}
