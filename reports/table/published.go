package table

import "github.com/gpc-tune/gpc-tune/reports"

// published compares published figures with the figures of the run.
func published(r *reports.Report) []Table {
	t := Table{Columns: Columns("#", "source", "figure", "published", "here", "here − published", "note")}
	for i, c := range r.Configurations {
		for _, p := range c.Published {
			for _, f := range p.Figures {
				theirs, ours, more := f.Texts()
				difference := Cell{}
				if f.Partial == nil {
					difference = written(more, f.Here-f.Published)
				}
				t.Add(i, p.Source, f.Name, written(theirs, f.Published), written(ours, f.Here).over(f.Partial),
					difference, p.Note)
			}
		}
	}
	return []Table{t}
}
