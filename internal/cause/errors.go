package cause

import "errors"

// placed is an error with the place where it happened.
type placed struct {
	at  string
	err error
}

func (p placed) Error() string { return p.at + ": " + p.err.Error() }
func (p placed) Unwrap() error { return p.err }

// At adds to an error the place where it happened.
func At(place string, err error) error { return placed{place, err} }

// Failed is the notice of an error. Its kind is the kind of the outermost error that has one: a
// Notice, or another error with a method Cause; else it is Failure.
func Failed(err error) Notice {
	switch of := err.(type) {
	case placed:
		return Failed(of.err).In(of.at)
	case Notice:
		return of
	}
	n := Notice{Kind: Failure, Text: err.Error()}
	var known interface{ Cause() Kind }
	if errors.As(err, &known) {
		n.Kind = known.Cause()
	}
	return n
}
