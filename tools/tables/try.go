package main

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/gpc-tune/gpc-tune/experiments/columns"
	"github.com/gpc-tune/gpc-tune/experiments/data"
)

// command is the program, with a Python for its peers unless that is empty.
type command struct{ path, python string }

// built builds the program in a folder.
func built(dir, python string) (command, error) {
	path := filepath.Join(dir, "gpc-tune")
	out, err := exec.Command("go", "build", "-o", path, "./cmd/gpc-tune").CombinedOutput()
	if err != nil {
		return command{}, fmt.Errorf("%w\n%s", err, out)
	}
	return command{path, python}, nil
}

func (c command) does(args ...string) ([]byte, error) {
	var out, messages bytes.Buffer
	run := exec.Command(c.path, args...)
	run.Stdout, run.Stderr = &out, &messages
	if err := run.Run(); err != nil {
		return nil, fmt.Errorf("gpc-tune %s: %w\n%s", strings.Join(args, " "), err, messages.String())
	}
	return out.Bytes(), nil
}

// asks is the exit code of init where several columns may be the label.
const asks = 3

// result has the label, the answer and the losses for a table. They are mean log losses of 1000
// rows that no study saw.
type result struct {
	name            string
	columns         int
	classes         int
	label           string // found: right, asked (init does not decide), or wrong
	answer          string // inference of the best configuration
	loss, truest    float64
	peers, informed map[string]float64 // losses of scikit-learn with the file, and with the inputs of the study
}

// write writes rows of the sheet, with its header, and returns the mean log loss of their true
// probabilities.
func (s sheet) write(path string, rows int, r *rand.Rand, from int) (float64, error) {
	var text bytes.Buffer
	w := csv.NewWriter(&text)
	w.Comma = []rune(s.sign)[0]
	var head []string
	for _, c := range s.columns {
		head = append(head, c.name)
	}
	w.Write(s.ordered(head, s.label)) // errors surface in w.Error
	loss := 0.0
	for i := range rows {
		one := &row{Rand: r, at: from + i, logit: s.bias, logits: make([]float64, len(s.classes))}
		if s.apart {
			one.class = r.IntN(len(s.classes))
		}
		var fields []string
		for _, c := range s.columns {
			text := c.draw(one)
			if s.sign == ";" { // decimal commas
				text = decimalPoint.ReplaceAllString(text, "$1,$2")
			}
			fields = append(fields, text)
		}
		p, k := one.chances(), one.class
		if !s.apart && r.Float64() < p[1] {
			k = 1
		}
		loss -= math.Log(p[k]) / float64(rows)
		w.Write(s.ordered(fields, s.classes[k]))
	}
	w.Flush()
	return loss, cmp.Or(w.Error(), os.WriteFile(path, text.Bytes(), 0o666))
}

var decimalPoint = regexp.MustCompile(`^(\D{0,3}\d+)\.(\d+(?: \D.*)?)$`)

// ordered inserts the label at its column.
func (s sheet) ordered(fields []string, label string) []string {
	if s.at < 0 {
		return append(fields, label)
	}
	return slices.Insert(fields, s.at, label)
}

// tried writes the sheet to a folder, runs the study that init writes for it, and predicts new
// rows.
func (c command) tried(s sheet, dir string, rows int, seed uint64) (result, error) {
	out := result{name: s.name, columns: len(s.columns), classes: len(s.classes), label: "right"}
	if err := os.Mkdir(dir, 0o777); err != nil {
		return out, err
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	r := rand.New(rand.NewPCG(seed, 0))
	if _, err := s.write(at("train.csv"), rows, r, 0); err != nil {
		return out, err
	}
	var err error
	if out.truest, err = s.write(at("new.csv"), 1000, r, rows); err != nil {
		return out, err
	}
	_, err = c.does("init", at("study.yaml"), "--data", at("train.csv"))
	var ended *exec.ExitError
	if errors.As(err, &ended) && ended.ExitCode() == asks {
		out.label = "asked"
	} else if err != nil {
		return out, err
	}
	table, err := columns.Read(at("train.csv"), "")
	if err != nil {
		return out, err
	}
	if out.label == "right" && table.Columns[table.Label].Name != s.label {
		out.label = "wrong"
	}
	if out.label != "right" {
		os.Remove(at("study.yaml"))
		if _, err = c.does("init", at("study.yaml"), "--data", at("train.csv"), "--label", s.label); err != nil {
			return out, err
		}
		if table, err = columns.Read(at("train.csv"), s.label); err != nil {
			return out, err
		}
	}
	if _, err = c.does("run", at("study.yaml"), "-o", at("run")); err != nil {
		return out, err
	}
	if out.loss, out.answer, err = c.scored(at, "study.yaml", "-o", at("run"), "--resume"); err != nil {
		return out, err
	}
	if out.peers, err = c.peers(at("train.csv"), at("new.csv"), s.label); err != nil || out.peers == nil {
		return out, err
	}
	if err = coded(table.Spec, at); err != nil {
		return out, err
	}
	out.informed, err = c.peers(at("coded.csv"), at("coded-new.csv"), s.label)
	return out, err
}

// coded writes the numeric inputs that the study makes of both files.
func coded(s data.Spec, at func(string) string) error {
	s.Test = at("new.csv")
	d, err := data.Load(s, "", 1)
	if err != nil {
		return err
	}
	for name, d := range map[string]*data.Data{"coded.csv": d, "coded-new.csv": d.Test} {
		var text bytes.Buffer
		w := csv.NewWriter(&text)
		w.Write(append(slices.Clone(d.ColumnNames), string(s.Label))) // errors surface in w.Error
		for i, label := range d.Labels {
			var fields []string
			for _, v := range d.X.RawRowView(i) {
				fields = append(fields, strings.Replace(fmt.Sprint(v), "NaN", "", 1))
			}
			w.Write(append(fields, d.Classes[label]))
		}
		w.Flush()
		if err := cmp.Or(w.Error(), os.WriteFile(at(name), text.Bytes(), 0o666)); err != nil {
			return err
		}
	}
	return nil
}

// peers are the log losses of scikit-learn's classifiers, by their names.
func (c command) peers(train, fresh, label string) (losses map[string]float64, err error) {
	if c.python == "" {
		return nil, nil
	}
	var messages bytes.Buffer
	run := exec.Command(c.python, "tools/tables/peers.py", train, fresh, label)
	run.Stderr = &messages
	out, err := run.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", run, err, messages.String())
	}
	return losses, json.Unmarshal(out, &losses)
}

// scored is the log loss of the model that fit writes, for the new rows, and its inference.
func (c command) scored(at func(string) string, study string, args ...string) (float64, string, error) {
	model := at(study + ".json")
	if _, err := c.does(append([]string{"fit", at(study), "-m", model}, args...)...); err != nil {
		return 0, "", err
	}
	out, err := c.does("predict", model, at("new.csv"), "--format", "json")
	if err != nil {
		return 0, "", err
	}
	var predicted struct {
		Scores map[string]struct{ Value float64 }
	}
	if err := json.Unmarshal(out, &predicted); err != nil {
		return 0, "", err
	}
	text, err := os.ReadFile(model)
	if err != nil {
		return 0, "", err
	}
	var file struct{ Model struct{ Inference string } }
	err = json.Unmarshal(text, &file)
	return predicted.Scores["log_loss"].Value, file.Model.Inference, err
}
