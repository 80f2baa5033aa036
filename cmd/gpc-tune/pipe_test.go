package main

import (
	"bufio"
	"encoding/binary"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// piped is a gpc-tune pipe and its client.
type piped struct {
	*process
	to     io.WriteCloser
	from   *bufio.Reader
	folder string
}

func startPipe(t *testing.T) *piped {
	t.Helper()
	p := &piped{process: &process{Cmd: gpcTune(t, t.TempDir(), "pipe")}}
	var err error
	if p.to, err = p.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	from, to, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p.Stdout, p.from = to, bufio.NewReader(from)
	p.begin(t)
	to.Close()
	t.Cleanup(func() { p.Process.Kill(); from.Close() })
	p.folder = p.response(t).Text
	if _, err := os.Stat(p.folder); err != nil {
		t.Error(err)
	}
	return p
}

func (p *piped) response(t *testing.T) (r response) {
	t.Helper()
	line, err := p.from.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &r)
	}
	r.body = make([]byte, r.Bytes)
	if _, short := io.ReadFull(p.from, r.body); err != nil || short != nil {
		t.Fatalf("%s: %v, %v\n%s", line, err, short, &p.out)
	}
	return r
}

// ask sends a request and returns the response after all messages.
func (p *piped) ask(t *testing.T, r request, body string) response {
	t.Helper()
	r.Bytes = len(body)
	line, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(p.to, "%s\n%s", line, body) // an error ends the response too
	answer := p.response(t)
	for r.Do == "run" && answer.Code == nil {
		answer = p.response(t)
	}
	return answer
}

const pipeCases = "a,b,y\n0.1,2.5,no\n1.25,-1e-300,yes\n3.3333333333333335,0.7,no\n-4,8,yes\n"

// The probabilities and decisions are those of gpc-tune predict, to the last bit. A mistake is an
// error with the exit code and the text of the command, and the pipe goes on.
func TestPipe(t *testing.T) {
	p := startPipe(t)
	study := "data: {train: train.csv, label: y, preprocess: standardize, id: a}\nmodel: {kernel: se, likelihood: probit, inference: laplace}\n"
	p.ask(t, request{Do: "write", Name: "train.csv"}, pipeCases)
	p.ask(t, request{Do: "write", Name: "study.yaml"}, study)
	if r := p.ask(t, request{Do: "run", Args: []string{"fit", "study.yaml", "-m", "model.json"}}, ""); *r.Code != 0 {
		t.Fatalf("%+v", r)
	}
	model := string(p.ask(t, request{Do: "read", Name: "model.json"}, "").body)
	printed := p.ask(t, request{Do: "run", Args: []string{"predict", "model.json", "train.csv"}}, "").body
	rows, err := csv.NewReader(strings.NewReader(string(printed))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if r := p.ask(t, request{Do: "load", Name: "m"}, model); r.Error != "" {
		t.Fatal(r.Error)
	}
	r := p.ask(t, request{Do: "predict", Name: "m"}, pipeCases)
	if !slices.Equal(r.Columns, rows[0]) || !slices.Equal(r.Classes, []string{"no", "yes"}) || r.Bytes != 8*4*len(rows[0]) {
		t.Fatalf("%+v", r)
	}
	for i, row := range rows[1:] {
		for j, cell := range row {
			got := math.Float64frombits(binary.LittleEndian.Uint64(r.body[8*(i*len(row)+j):]))
			want, _ := strconv.ParseFloat(cell, 64)
			switch rows[0][j] {
			case "a":
				want = math.NaN()
			case "decision":
				want = float64(slices.Index(r.Classes, cell))
			}
			if got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
				t.Errorf("case %d, %s: %v, want %v", i, rows[0][j], got, want)
			}
		}
	}
	for _, c := range []struct {
		request
		body, want string
		code       int
	}{
		{request{Do: "read", Name: "../x"}, "", "no name of a file in the folder", exitUsage},
		{request{Do: "read", Name: "x"}, "", "no such file", exitInvalid},
		{request{Do: "dance"}, "", `unknown request "dance"`, exitUsage},
		{request{Do: "load", Name: "n"}, model[:200], "the model", exitInvalid},
		{request{Do: "predict", Name: "n"}, pipeCases, `no model "n"`, exitUsage},
		{request{Do: "predict", Name: "m"}, "b\n1\n2\n", "", 0},
		{request{Do: "predict", Name: "m"}, "c\n1\n2\n", "no column b", exitInvalid},
	} {
		if r := p.ask(t, c.request, c.body); !strings.Contains(r.Error, c.want) || c.code != 0 && *r.Code != c.code {
			t.Errorf("%+v: %+v", c.request, r)
		}
	}
	for k := range mostModels {
		p.ask(t, request{Do: "load", Name: strconv.Itoa(k)}, model)
	}
	if r := p.ask(t, request{Do: "predict", Name: "m"}, pipeCases); r.Error != `no model "m"` {
		t.Errorf("the ninth model: %+v", r)
	}
	p.ask(t, request{Do: "clear"}, "")
	if left, err := os.ReadDir(p.folder); err != nil || len(left) > 0 {
		t.Error(left, err)
	}
	p.ends(t)
}

// ends closes standard input: the process ends, and its folder is gone.
func (p *piped) ends(t *testing.T) {
	t.Helper()
	p.to.Close()
	<-p.ended
	if _, err := os.Stat(p.folder); p.err != nil || !os.IsNotExist(err) {
		t.Errorf("%v, the folder: %v\n%s", p.err, err, &p.out)
	}
}

// A pipe whose client ends while a command runs ends at once, and so does one that is terminated.
func TestPipeEndsWithItsClient(t *testing.T) {
	for _, terminate := range []bool{false, true} {
		p := startPipe(t)
		p.ask(t, request{Do: "write", Name: "s.yaml"}, "data: {dataset: pima}\nmodel: {kernel: {se: {ard: true}}, likelihood: probit, inference: ep}\ntune: {restarts: 1000}\nevaluate: {kfold: {k: 10}}\n")
		fmt.Fprintln(p.to, `{"do": "run", "args": ["run", "s.yaml", "-o", "run"]}`)
		until(t, "a run folder", func() bool { _, err := os.Stat(p.folder + "/run"); return err == nil })
		if !terminate {
			p.ends(t)
			continue
		}
		if err := p.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		<-p.ended
		if _, err := os.Stat(p.folder); !os.IsNotExist(err) {
			t.Error(err)
		}
	}
}
