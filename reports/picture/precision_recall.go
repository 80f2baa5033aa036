package picture

import (
	"fmt"

	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/reports/figure"
)

// precisionRecallPicture shows precision against recall, the average precisions, and the precision
// of guessing, which is the fraction of the second class.
var precisionRecallPicture = ranked{
	kind: "precision-recall", title: "Precision and recall", score: "average_precision", short: "average precision",
	of: cv.PrecisionRecall,
	x: func(class []string) string {
		return fmt.Sprintf("recall: share of %s taken for %s", class[1], class[1])
	},
	y: func(class []string) string {
		return fmt.Sprintf("precision: share of %s in what is taken for %s", class[1], class[1])
	},
	guessing: func(p cv.Predictions) figure.Line {
		cases := 0
		for _, label := range p.Labels {
			cases += label // 0 or 1
		}
		share := float64(cases) / float64(len(p.Labels))
		return figure.Line{Name: "guessing", X: []float64{0, 1}, Y: []float64{share, share}, Dashed: true}
	},
}
