package picture

import (
	"fmt"

	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/reports/figure"
)

// rocPicture shows receiver operating characteristics, the areas under them, and the curve of
// guessing.
var rocPicture = ranked{
	kind: "roc", title: "Receiver operating characteristic", score: "auc", short: "AUC", of: cv.ROC,
	x: func(class []string) string {
		return fmt.Sprintf("false positive rate: %s taken for %s", class[0], class[1])
	},
	y: func(class []string) string {
		return fmt.Sprintf("true positive rate: %s taken for %s", class[1], class[1])
	},
	guessing: func(cv.Predictions) figure.Line {
		return figure.Line{Name: "guessing", X: []float64{0, 1}, Y: []float64{0, 1}, Dashed: true}
	},
}
