package predict

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/gpc-tune/gpc-tune/experiments/data"
	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/page"
	"github.com/gpc-tune/gpc-tune/reports/table"
)

// mostFields is the number of inputs up to which there is a form.
const mostFields = 300

// Page is the page of a model: a form of the inputs with values; the explained prediction of one
// case, or the reason why there is none; and the drift of all cases, if the classifier compares
// them.
func (c *Classifier) Page(values url.Values, p *Predicted, err error) page.Article {
	a := page.Article{Title: "Predict a case", Facts: c.Facts()}
	switch {
	case err != nil:
		a.Facts = []table.Fact{{Name: "no prediction", Text: err.Error(), Kind: table.Doubtful}}
	case p != nil:
		var why page.Part
		a.Facts, why = p.explain(len(c.file.Columns.Classes) == 0)
		a.Parts = append(a.Parts, why)
	}
	if n := len(c.file.Columns.Inputs); n > mostFields {
		a.Parts = append(a.Parts, paragraphs("Inputs", fmt.Sprintf("The model has %d inputs, too many for a form. "+
			"POST /predict takes them as JSON.", n)))
	} else {
		for k, in := range c.file.Columns.Inputs {
			a.Form = append(a.Form, fieldOf(k, in, values.Get(fieldName(k))))
		}
	}
	a.Parts = append(a.Parts, c.drift.part())
	return a
}

// fieldName is the name of the field of input k. A column may have any name, such as token.
func fieldName(k int) string { return "input" + strconv.Itoa(k) }

// fieldOf is the field of input k.
func fieldOf(k int, c data.Column, value string) page.Field {
	f := page.Field{Name: fieldName(k), Label: c.Name, Kind: "number", Value: value}
	switch {
	case c.Levels != nil:
		f.Choices = c.Levels
	case c.Order != nil:
		f.Choices = c.Order
	case c.Date != nil && c.Date.Form == "time":
		f.Kind = "time"
	case c.Date != nil:
		f.Kind = "date"
		if slices.Contains(c.Date.Parts, "hour") {
			f.Kind = "datetime-local"
		}
	case c.Unit != "" || c.Limits || c.Duration != "" || c.Currency != "" || c.Percent:
		f.Kind, f.Hint = "text", strings.TrimSpace("as in the training file "+c.Unit)
	}
	return f
}

// FormRow is the input of ReadRecords with the case of a form. A field without a value is missing.
func (c *Classifier) FormRow(values url.Values) []byte {
	row := map[string]any{}
	for k, c := range c.file.Columns.Inputs {
		text := strings.TrimSpace(values.Get(fieldName(k)))
		f := fieldOf(k, c, text)
		switch _, err := strconv.ParseFloat(text, 64); {
		case text == "":
			row[c.Name] = nil
		case f.Choices == nil && f.Kind == "number" && err == nil && json.Valid([]byte(text)):
			row[c.Name] = json.Number(text)
		default:
			row[c.Name] = text
		}
	}
	text, err := json.Marshal(map[string]any{"rows": []any{row}})
	if err != nil {
		panic(err)
	}
	return text
}

// explain is the only row of a prediction in words: the decision, the probabilities, the set and
// the warnings; and what moved it from the base.
func (p *Predicted) explain(numeric bool) (facts []table.Fact, why page.Part) {
	moved := table.Table{Columns: table.Columns("input", "moves it by")}
	why = page.Part{Heading: "Why"}
	of, base := "the prediction", ""
	for j, name := range p.Columns {
		text := fmt.Sprint(p.Rows[0][j])
		if v, is := p.Rows[0][j].(record.Number); is {
			text = reports.Readable(float64(v))
		}
		input, moves := strings.CutPrefix(name, "why[")
		switch {
		case moves:
			cell := table.Cell{Value: p.Rows[0][j]}
			if v, is := cell.Value.(record.Number); is && !numeric {
				cell.Text = fmt.Sprintf("%+.3f", float64(v))
			}
			moved.Add(strings.TrimSuffix(input, "]"), cell)
		case name == "case" || name == "set_size":
		case name == "why_of":
			of = "p[" + text + "]"
		case name == "base":
			base = text
		case name == "why_error":
			why.Texts = append(why.Texts, "The values are sampled, with a standard error of at most "+text+".")
		case name == "nearest":
			why.Texts = append(why.Texts, "The nearest training cases, with label and correlation: "+text+".")
		case name == "outside" && text != "":
			why.Texts = append(why.Texts, "Outside the range of the training cases, or missing: "+text+".")
		case name == "outside":
		case name == "set":
			facts = append(facts, table.Fact{Name: "set", Text: "{" + text + "}"})
		default:
			f := table.Fact{Name: strings.ReplaceAll(name, "_", " "), Text: text}
			if name == "decision" {
				f.Kind = table.Conclusion
				facts = append([]table.Fact{f}, facts...)
				continue
			}
			facts = append(facts, f)
		}
	}
	for _, w := range p.Warnings {
		facts = append(facts, table.Fact{Name: "warning", Text: w})
	}
	if base != "" {
		why.Texts = append([]string{fmt.Sprintf("What moved %s from its mean over training cases, %s. The values "+
			"sum to the difference.", of, base)}, why.Texts...)
		why.Tables = []table.Table{moved}
	}
	return facts, why
}
