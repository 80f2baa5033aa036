package plan

import (
	"fmt"

	"github.com/gpc-tune/gpc-tune/experiments/data"
)

// Reader makes plans. It keeps data for the next plans.
type Reader struct {
	known map[string]*read
}

// read is the result of reading a data section.
type read struct {
	ds    *data.Data
	leaks []data.Leak
	// cases of a file that repeat an earlier one and are not kept together
	repeated int
	err      error
}

// load reads data once.
func (r *Reader) load(s data.Spec, dir string, seed uint64) *read {
	key := fmt.Sprintf("%+v %q %d", s, dir, seed)
	if r.known[key] == nil {
		ds, err := data.Load(s, dir, seed)
		of := &read{ds: ds, err: err}
		if err == nil {
			of.leaks = ds.Leaks()
			if s.Train != "" && ds.Groups == nil && !ds.Schema.Counts {
				of.repeated = ds.Repeated()
			}
		}
		if r.known == nil {
			r.known = map[string]*read{}
		}
		r.known[key] = of
	}
	return r.known[key]
}
