package stores

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/gpc-tune/gpc-tune/reports"
)

// Values of the field status of an MLflow run.
const (
	mlflowFinished = 3
	mlflowFailed   = 4
)

// mlflowStore writes the folder that the file store of MLflow reads: EXPERIMENT/meta.yaml and, for
// each run, EXPERIMENT/RUN/meta.yaml with a file for each parameter, metric and tag. Identifiers
// are hashes of the experiment's key, and times are 0, so equal runs give equal files. An
// experiment's identifier is a number in the files, which MLflow before 1.0 needs and later
// versions convert.
func mlflowStore(r *reports.Report) ([]File, error) {
	s := mlflowFiles{r: r, experiment: mlflowNumber(r.Manifest.Key)}
	s.file(s.experiment+"/meta.yaml", "artifact_location: %s\ncreation_time: 0\nexperiment_id: %s\n"+
		"last_update_time: 0\nlifecycle_stage: active\nname: %s\n", strconv.Quote("mlruns/"+s.experiment), s.experiment,
		strconv.Quote(r.Experiment))
	for i, c := range r.Configurations {
		if c.Record.Program == nil {
			s.configuration(i, c)
			continue
		}
		for _, t := range c.TrialsOf(c.Studies[0]) {
			s.trial(i, c, t)
		}
	}
	return s.files, nil
}

// mlflowFiles collects the files of a store.
type mlflowFiles struct {
	r          *reports.Report
	experiment string
	files      []File
}

func (s *mlflowFiles) file(name, format string, args ...any) {
	s.files = append(s.files, File{name, fmt.Appendf(nil, format, args...)})
}

// run adds a run, and returns its folder.
func (s *mlflowFiles) run(name string, status int, tags map[string]string) string {
	id := mlflowHash(s.r.Manifest.Key, name)[:32]
	folder := s.experiment + "/" + id
	s.file(folder+"/meta.yaml", "artifact_uri: %s\nend_time: 0\nentry_point_name: ''\nexperiment_id: %s\n"+
		"lifecycle_stage: active\nname: ''\nrun_id: %s\nrun_name: %s\nrun_uuid: %s\nsource_name: ''\nsource_type: 4\n"+
		"source_version: ''\nstart_time: 0\nstatus: %d\ntags: []\nuser_id: gpc-tune\n",
		strconv.Quote("mlruns/"+folder+"/artifacts"), s.experiment, id, strconv.Quote(name), id, status)
	s.values(folder, "tags", map[string]string{"mlflow.runName": name, "mlflow.source.name": "gpc-tune",
		"gpc-tune.build": s.r.Manifest.Build.String()})
	s.values(folder, "tags", tags)
	return folder
}

// values adds a file for each parameter or tag with a value.
func (s *mlflowFiles) values(folder, kind string, values map[string]string) {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if values[name] != "" {
			s.file(folder+"/"+kind+"/"+mlflowName(name), "%s", values[name])
		}
	}
}

// metric adds the values of a metric by step; one that is not finite is left out. MLflow before 1.0
// has no steps, and later versions read a value without one as step 0.
func (s *mlflowFiles) metric(folder, name string, values ...reports.Interim) {
	var text strings.Builder
	for _, at := range values {
		if at.Value.Finite() {
			fmt.Fprintf(&text, "0 %v", float64(at.Value))
			if at.Step != 0 {
				fmt.Fprintf(&text, " %d", int64(at.Step))
			}
			text.WriteByte('\n')
		}
	}
	if text.Len() > 0 {
		s.file(folder+"/metrics/"+mlflowName(name), "%s", text.String())
	}
}

// configuration adds the run of a configuration: how it was declared and tuned, and its scores.
func (s *mlflowFiles) configuration(i int, c reports.Configuration) {
	status := mlflowFinished
	if c.Status != reports.Done {
		status = mlflowFailed
	}
	folder := s.run(studyNames(s.r)[i], status, map[string]string{"gpc-tune.status": string(c.Status)})
	params := map[string]string{"dataset": c.Dataset, "preprocess": c.Preprocess, "kernel": c.Kernel.Text,
		"mean": c.Mean.Text, "likelihood": c.Likelihood.Text, "inference": c.Inference.Text, "tune": c.Tune}
	for _, v := range c.Named(c.Hyperparameters) {
		params[v.Name] = fmt.Sprint(float64(v.Value))
	}
	s.values(folder, "params", params)
	s.metric(folder, "log_evidence", reports.Interim{Value: c.LogEvidence})
	for _, e := range c.Evaluations {
		for _, score := range e.Scores.Results {
			s.metric(folder, e.Name+"/"+score.Name, reports.Interim{Value: reports.Number(score.Value)})
		}
	}
}

// trial adds the run of a trial of a program.
func (s *mlflowFiles) trial(i int, c reports.Configuration, t reports.Trial) {
	status, failure := mlflowFinished, t.Failure
	if failure != "" {
		status = mlflowFailed
	}
	folder := s.run(fmt.Sprintf("%s trial %d", studyNames(s.r)[i], t.Trial), status,
		map[string]string{"gpc-tune.status": t.Status, "gpc-tune.failure": failure})
	name := cmp.Or(c.Program.Field, "value")
	for _, at := range t.Points {
		all, natural := tuned(c, at.Hyperparameters)
		params := map[string]string{}
		for k, h := range all {
			params[h.Shown()] = fmt.Sprint(natural[k])
			if h.Choices != nil {
				params[h.Shown()] = h.Choices[int(natural[k])]
			}
		}
		s.values(folder, "params", params)
		s.metric(folder, name, reports.Interim{Value: at.Value})
	}
	if len(t.Interim) > 0 {
		s.metric(folder, name+" on the way", t.Interim...)
	}
}

// mlflowName is a name of the letters that MLflow allows.
func mlflowName(name string) string {
	return strings.Trim(strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r == '.' || r == ' ' || r == '/' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' ||
			r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, name), "/.")
}

func mlflowHash(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:])
}

// mlflowNumber is an identifier of 18 digits, as MLflow makes for its experiments.
func mlflowNumber(key string) string {
	sum := sha256.Sum256([]byte(key))
	return fmt.Sprint(100_000_000_000_000_000 + binary.BigEndian.Uint64(sum[:8])%900_000_000_000_000_000)
}
