package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/gpc-tune/gpc-tune/experiments/catalogue"
	"github.com/gpc-tune/gpc-tune/experiments/classifier/predict"
	"github.com/gpc-tune/gpc-tune/experiments/columns"
	"github.com/gpc-tune/gpc-tune/experiments/data/tables"
	"github.com/gpc-tune/gpc-tune/experiments/spec"
	"github.com/gpc-tune/gpc-tune/internal/panicked"
	"github.com/gpc-tune/gpc-tune/record"
)

// mostModels is the number of models that a pipe keeps loaded.
const mostModels = 8

// request is a line of JSON on standard input, followed by as many bytes as it says.
type request struct {
	Do    string   `json:"do"`
	Name  string   `json:"name"` // of a file in the folder, or of a loaded model
	Args  []string `json:"args"`
	Bytes int      `json:"bytes"`

	Table   map[string]any `json:"table"`   // section data of a table
	Columns []string       `json:"columns"` // names of columns, or texts
	Sizes   []int          `json:"sizes"`   // bytes of the columns, if the bytes are those of a table
	Texts   []bool         `json:"texts"`   // which of the columns have texts
	Rows    int            `json:"rows"`
	Classes int            `json:"classes"` // number of classes of a table
	body    []byte

	identifiers []string // quoted names of columns that look like identifiers
}

// parquet makes a Parquet file of the bytes of a table, and finds its identifiers.
func (r *request) parquet() (err error) {
	if len(r.Sizes) == 0 {
		return nil
	}
	if len(r.Sizes) != len(r.Columns) || len(r.Sizes) != len(r.Texts) {
		return usage("a table of %d columns with %d sizes and %d types", len(r.Columns), len(r.Sizes), len(r.Texts))
	}
	var columns []tables.Column
	rest := r.body
	for j, size := range r.Sizes {
		if size < 0 || size > len(rest) {
			return usage("column %d of %d bytes, and %d are left", j, size, len(rest))
		}
		c := tables.Column{Name: r.Columns[j], Numbers: !r.Texts[j], Values: rest[:size]}
		columns = append(columns, c)
		if c.Identifies() {
			r.identifiers = append(r.identifiers, strconv.Quote(c.Name))
		}
		rest = rest[size:]
	}
	r.body, err = tables.WriteParquet(columns, r.Rows)
	return err
}

// response is a line of JSON on standard output, followed by as many bytes as it says. A line with
// a text alone is a message of a command that still runs.
type response struct {
	Text    string   `json:"text,omitempty"`
	Code    *int     `json:"code,omitempty"` // exit code
	Error   string   `json:"error,omitempty"`
	Columns []string `json:"columns,omitempty"`
	Classes []string `json:"classes,omitempty"`
	Bytes   int      `json:"bytes,omitempty"`
	body    []byte
}

// pipeServer serves one client. Its files are in a folder that is removed when standard input ends.
type pipeServer struct {
	program program
	folder  string
	out     *bufio.Writer
	names   []string // the loaded models, the least recently used first
	models  map[string]*predict.Classifier
}

// program runs the command of args, as main does, and returns the exit code.
type program func(ctx context.Context, signals *interrupts, args []string, in io.Reader, out, messages io.Writer) int

func pipeCommand(signals *interrupts, program program) *cobra.Command {
	return &cobra.Command{
		Use:    "pipe",
		Hidden: true,
		Short:  "Serve the program that has started this one, through standard input and output",
		Long: `Serve one client, such as the package gpc_tune for Python. A request is a line of JSON, followed by
the number of bytes in its field "bytes"; so is a response. Bytes of a table are its columns,
one behind the other, as tables.Column has them; the fields "columns", "sizes", "texts" and "rows"
describe it. The first line names a new folder, which
is removed when standard input ends, however the client ends:
  write    puts the bytes into the file "name" of the folder; "columns" quotes the columns of a table
           that have names of identifiers and a different value in every row
  read     returns the bytes of that file
  clear    removes all files of the folder
  run      runs the command "args" in the folder; lines with "text" are its messages, and "code" is
           its exit code
  load     loads the model file in the bytes as "name", and returns a float64 for each of its
           hyperparameters in natural units, which "columns" names, and in "classes" the names of the
           prepared inputs; of eight models the least recently used is dropped
  table    makes the study in the bytes, which errors call "name", one for the table with the section
           data "table", the inputs "columns" and "classes"; returns catalogue.TableStudy as JSON;
           without "rows" no evaluate is the default
  texts    returns columns.Reading of the texts "columns" as JSON
  classes  returns in "classes" names of the classes with the texts "columns"
  predict  predicts the table in the bytes with the model "name", without sets, and returns a
           float64, little endian, for each of "columns", row by row; a decision is an index in
           "classes", and -1 is reject`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			folder, err := os.MkdirTemp("", "gpc-tune-")
			if err != nil {
				return err
			}
			ctx, cancel := context.WithCancel(c.Context())
			ended := sync.OnceFunc(func() {
				cancel()
				_ = os.Chdir(os.TempDir()) // some systems keep the working directory of a process
				for range 3 {              // a job that ends now may still write a file
					_ = os.RemoveAll(folder)
				}
			})
			defer ended()
			drained, done := signals.drain()
			defer done()
			go func() {
				<-drained
				ended()
				end(exitStopped)
			}()
			if err := os.Chdir(folder); err != nil {
				return err
			}
			p := &pipeServer{program: program, folder: folder, out: bufio.NewWriter(forPrograms(c)),
				models: map[string]*predict.Classifier{}}
			requests := make(chan request)
			go func() {
				err := receive(c.InOrStdin(), requests)
				ended()
				if !errors.Is(err, io.EOF) {
					fmt.Fprintf(c.ErrOrStderr(), "gpc-tune: %v\n", err)
					end(exitUsage)
				}
				end(exitDone)
			}()
			if err := p.send(response{Text: folder}); err != nil {
				return err
			}
			for r := range requests {
				if err := p.send(p.answer(ctx, r)); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// receive passes requests on until standard input ends.
func receive(in io.Reader, to chan<- request) error {
	from := bufio.NewReaderSize(in, 1<<20)
	for {
		line, err := from.ReadBytes('\n')
		if err != nil {
			return err
		}
		var r request
		if err := json.Unmarshal(line, &r); err != nil {
			return usage("a request is a line of JSON: %w", err)
		}
		if r.Bytes < 0 {
			return usage("a request of %d bytes", r.Bytes)
		}
		var body bytes.Buffer // it grows with what arrives, whatever the line says
		if _, err := io.CopyN(&body, from, int64(r.Bytes)); err != nil {
			return err
		}
		r.body = body.Bytes()
		to <- r
	}
}

// send writes a response.
func (p *pipeServer) send(r response) error {
	r.Bytes = len(r.body)
	if err := json.NewEncoder(p.out).Encode(r); err != nil {
		return err
	}
	if _, err := p.out.Write(r.body); err != nil {
		return err
	}
	return p.out.Flush()
}

// answer does what a request asks for. A panic is an error of this request.
func (p *pipeServer) answer(ctx context.Context, r request) (out response) {
	var err error
	if panicking := panicked.Try(func() { out, err = p.do(ctx, r) }); panicking != nil {
		err = fmt.Errorf("%w\nthis is a fault of gpc-tune: please report it", panicking)
	}
	if err != nil {
		code := code(err)
		out = response{Code: &code, Error: err.Error()}
	}
	return out
}

func (p *pipeServer) do(ctx context.Context, r request) (out response, err error) {
	if r.Do == "write" || r.Do == "read" {
		if !filepath.IsLocal(r.Name) {
			return out, usage("%q is no name of a file in the folder", r.Name)
		}
		r.Name = filepath.Join(p.folder, r.Name)
	}
	if err := r.parquet(); err != nil {
		return out, err
	}
	switch r.Do {
	case "write":
		out.Columns = r.identifiers
		return out, os.WriteFile(r.Name, r.body, 0o600)
	case "read":
		out.body, err = os.ReadFile(r.Name)
		return out, err
	case "clear":
		entries, err := os.ReadDir(p.folder)
		for _, e := range entries {
			err = errors.Join(err, os.RemoveAll(filepath.Join(p.folder, e.Name())))
		}
		return out, err
	case "run":
		var results strings.Builder
		code := p.program(ctx, nil, r.Args, strings.NewReader(""), &results, pipeMessages{p})
		return response{Code: &code, body: []byte(results.String())}, nil
	case "table":
		study, err := catalogue.ForTable(r.body, r.Name, r.Table, r.Columns)
		if err == nil {
			err = study.Complete(r.Classes, r.Rows)
		}
		if err == nil {
			out.body, err = json.Marshal(study)
		}
		return out, err
	case "texts":
		out.body, err = json.Marshal(columns.ReadTexts(r.Columns))
		return out, err
	case "classes":
		return response{Classes: catalogue.ClassNames(r.Columns)}, nil
	case "load":
		return p.load(r)
	case "predict":
		return p.predict(ctx, r)
	}
	return out, usage("unknown request %q", r.Do)
}

// pipeMessages sends what a command writes to standard error.
type pipeMessages struct{ *pipeServer }

func (m pipeMessages) Write(text []byte) (int, error) {
	return len(text), m.send(response{Text: string(text)})
}

func (p *pipeServer) load(r request) (out response, err error) {
	model, err := predict.ReadClassifier(bytes.NewReader(r.body), "the model")
	if err != nil {
		return out, err
	}
	p.names = slices.DeleteFunc(p.names, func(name string) bool { return name == r.Name })
	if len(p.names) == mostModels {
		delete(p.models, p.names[0])
		p.names = p.names[1:]
	}
	p.names, p.models[r.Name] = append(p.names, r.Name), model.WithoutSets()
	out.Classes = model.InputNames()
	for _, h := range model.Hyperparameters() {
		out.Columns = append(out.Columns, h.Name)
		out.body = binary.LittleEndian.AppendUint64(out.body, math.Float64bits(float64(h.Value)))
	}
	return out, nil
}

func (p *pipeServer) predict(ctx context.Context, r request) (out response, err error) {
	model := p.models[r.Name]
	if model == nil { // the client loads it again
		return out, usage("no model %q", r.Name)
	}
	at := slices.Index(p.names, r.Name)
	p.names = append(slices.Delete(p.names, at, at+1), r.Name)
	out.Classes = model.Classes()
	classes := map[string]float64{record.Rejected: -1}
	for k, name := range out.Classes {
		classes[name] = float64(k)
	}
	all, err := model.Each(ctx, "-", bytes.NewReader(r.body), spec.Deciding{}, func(t *predict.Predicted) error {
		for _, row := range t.Rows {
			for j, v := range row {
				number := math.NaN() // an id has no number
				switch v := v.(type) {
				case record.Number:
					number = float64(v)
				case int:
					number = float64(v)
				case string:
					if t.Columns[j] == "decision" {
						number = classes[v]
					}
				}
				out.body = binary.LittleEndian.AppendUint64(out.body, math.Float64bits(number))
			}
		}
		return nil
	})
	if err != nil {
		return out, err
	}
	out.Columns, out.Text = all.Columns, strings.Join(all.Warnings, "\n")
	return out, nil
}
