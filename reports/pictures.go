package reports

import "github.com/gpc-tune/gpc-tune/reports/figure"

// pictureTable lists what can be drawn of a report, one file each: picture_NAME.go. A picture that a report has nothing for returns none.
var pictureTable = []struct {
	Name string // begins the names of its figures
	Doc  string
	Of   func(r *Report) []figure.Figure
}{}

// Figures are all pictures of the report, in the order of the table.
func (r *Report) Figures() (out []figure.Figure) {
	for _, p := range pictureTable {
		out = append(out, p.Of(r)...)
	}
	return out
}
