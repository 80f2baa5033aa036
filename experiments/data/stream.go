package data

import (
	"io"

	"github.com/gpc-tune/gpc-tune/experiments/data/tables"
)

// Stream reads cases to predict like Read, but in parts: each receives at most this many records,
// in order, with Rows counted from the beginning; the first has both records that determine the
// columns. Only one part is in memory. name is a file, or - for r.
func (s *Schema) Stream(name string, r io.Reader, records int, each func(*Data) error) error {
	as := &earlierParts{}
	return tables.Stream(name, r, s.reading(), records, func(part tables.Part) (tables.Layout, error) {
		if part.All {
			return as.layout, s.inParts(part.Source, records, each)
		}
		d, err := s.toPredict(part.Source, as)
		if err == nil {
			for _, u := range d.Unread {
				for k := range u.First {
					u.First[k].Line += part.Lines
				}
			}
			err = each(d)
		}
		return as.layout, err
	})
}

// inParts passes the cases of a whole file on in parts.
func (s *Schema) inParts(src tables.Source, records int, each func(*Data) error) error {
	d, err := s.toPredict(src, nil)
	if err != nil {
		return err
	}
	for from := 0; from < len(d.Rows) && err == nil; from += records {
		rows := make([]int, min(records, len(d.Rows)-from))
		for i := range rows {
			rows[i] = from + i
		}
		part := d.subset(rows)
		if from > 0 {
			part.Warnings, part.Unread = nil, nil // the first part has the warnings of all cases
		}
		err = each(part)
	}
	return err
}
