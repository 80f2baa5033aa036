package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/internal/strictyaml"
	"github.com/gpc-tune/gpc-tune/internal/testing/golden"
)

// manifest has the fields of a Job that the tests check.
type manifest struct {
	Kind     string
	Metadata struct {
		Name, Namespace string
		Labels          map[string]string
	}
	Spec struct {
		Suspend              bool
		CompletionMode       string `yaml:"completionMode"`
		Completions          int
		Parallelism          int
		BackoffLimit         *int `yaml:"backoffLimit"`
		BackoffLimitPerIndex *int `yaml:"backoffLimitPerIndex"`
		MaxFailedIndexes     *int `yaml:"maxFailedIndexes"`
		PodFailurePolicy     struct {
			Rules []struct {
				Action      string
				OnExitCodes *struct {
					ContainerName, Operator string
					Values                  []int
				} `yaml:"onExitCodes"`
				OnPodConditions []struct{ Type, Status string } `yaml:"onPodConditions"`
			}
		} `yaml:"podFailurePolicy"`
		Template struct {
			Metadata struct{ Labels map[string]string }
			Spec     struct {
				RestartPolicy                 string `yaml:"restartPolicy"`
				TerminationGracePeriodSeconds int    `yaml:"terminationGracePeriodSeconds"`
				Containers                    []struct {
					Name          string
					Command, Args []string
					Resources     struct{ Requests, Limits map[string]string }
					VolumeMounts  []struct {
						Name      string
						MountPath string `yaml:"mountPath"`
					} `yaml:"volumeMounts"`
				}
				Volumes []struct {
					Name                  string
					PersistentVolumeClaim struct {
						ClaimName string `yaml:"claimName"`
					} `yaml:"persistentVolumeClaim"`
				}
			}
		}
	}
}

// manifests reads the output of submit and checks it against the rules of the cluster's API for
// Jobs. experiments/submit checks it against the API's types.
func manifests(t testing.TB, text []byte) (all []manifest) {
	t.Helper()
	for d := strictyaml.NewDecoder(bytes.NewReader(text)); ; {
		var node strictyaml.Node
		if err := d.Decode(&node); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		var m manifest
		if err := node.Decode(&m); err != nil {
			t.Fatal(err)
		}
		if all = append(all, m); m.Kind == "Job" {
			valid(t, m)
		}
	}
}

// valid checks the rules of the API for a Job beyond its types, and the needs of workers.
func valid(t testing.TB, m manifest) {
	t.Helper()
	spec, pod := m.Spec, m.Spec.Template.Spec
	label := regexp.MustCompile(`^[a-z0-9]([a-z0-9-]*[a-z0-9])?$`)
	if host := fmt.Sprintf("%s-%d", m.Metadata.Name, spec.Completions); !label.MatchString(host) || len(host) > 63 {
		t.Errorf("pods of the name %s", host)
	}
	value := regexp.MustCompile(`^([A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?)?$`)
	for name, v := range m.Metadata.Labels {
		if !value.MatchString(v) || m.Spec.Template.Metadata.Labels[name] != v {
			t.Errorf("label %s: %q, of the pods %q", name, v, m.Spec.Template.Metadata.Labels[name])
		}
	}
	// Pod failure policies and limits per index require pods that are never restarted in place; the
	// latter also an indexed Job.
	if pod.RestartPolicy != "Never" || len(pod.Containers) != 1 || len(pod.Volumes) != 1 {
		t.Fatalf("%+v", pod)
	}
	actions := []string{"FailJob", "Ignore", "Count"}
	if indexed := spec.CompletionMode == "Indexed"; indexed {
		actions = append(actions, "FailIndex")
		if spec.BackoffLimitPerIndex == nil || spec.MaxFailedIndexes == nil || *spec.MaxFailedIndexes < 1 || *spec.MaxFailedIndexes > spec.Completions || spec.Completions < 1 {
			t.Errorf("%+v", spec)
		}
		if spec.Parallelism < 1 || spec.Parallelism > spec.Completions || spec.Parallelism > 10_000 || *spec.MaxFailedIndexes > 10_000 {
			t.Errorf("parallelism %d, %d failures of %d", spec.Parallelism, *spec.MaxFailedIndexes, spec.Completions)
		}
	} else if spec.BackoffLimitPerIndex != nil || spec.MaxFailedIndexes != nil || spec.BackoffLimit == nil {
		t.Errorf("%+v", spec)
	}
	worker := pod.Containers[0]
	never := map[int]bool{}
	disrupted := false
	for _, rule := range spec.PodFailurePolicy.Rules {
		if !slices.Contains(actions, rule.Action) || (rule.OnExitCodes == nil) == (rule.OnPodConditions == nil) {
			t.Errorf("rule %+v", rule)
		}
		if codes := rule.OnExitCodes; codes != nil {
			if !slices.IsSorted(codes.Values) || slices.Contains(codes.Values, 0) || codes.Operator != "In" {
				t.Errorf("exit codes %+v", codes)
			}
			for _, code := range codes.Values {
				never[code] = strings.HasPrefix(rule.Action, "Fail")
			}
		}
		for _, c := range rule.OnPodConditions {
			disrupted = disrupted || rule.Action == "Ignore" && c.Type == "DisruptionTarget" && c.Status == "True"
		}
	}
	if !never[exitInvalid] || never[exitStopped] || never[137] || never[143] || !disrupted {
		t.Errorf("rules %+v", spec.PodFailurePolicy.Rules)
	}
	if least := int(grace.Seconds()) + 5; pod.TerminationGracePeriodSeconds < least {
		t.Errorf("%d s to end, want %d", pod.TerminationGracePeriodSeconds, least)
	}
	if worker.Resources.Requests["memory"] == "" || worker.Resources.Requests["cpu"] == "" || worker.VolumeMounts[0].Name != pod.Volumes[0].Name {
		t.Errorf("%+v", worker)
	}
}

// expanded returns arguments as a node expands them when no variable is set.
func expanded(args []string) (all []string) {
	for _, a := range args {
		all = append(all, regexp.MustCompile(`\$\$|\$\(\w+\)`).ReplaceAllStringFunc(a, func(found string) string {
			return map[bool]string{true: "$", false: "expanded"}[found == "$$"]
		}))
	}
	return all
}

// kubectl installs a kubectl that succeeds and logs its arguments in the file asked.
func kubectl(t testing.TB) (asked string) {
	t.Helper()
	dir := t.TempDir()
	asked = filepath.Join(dir, "asked")
	if err := os.WriteFile(filepath.Join(dir, "kubectl"), []byte("#!/bin/sh\necho \"$@\" >> '"+asked+"'\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	return asked
}

// Every pod of a run's Jobs is started here like the cluster starts it, in random order within a
// wave. The result has the bytes of a run in one process.
func TestKubernetesPods(t *testing.T) {
	asked := kubectl(t)
	dir := write(t, "nested.yaml", `{data: {train: "data, and $(HOME).csv", preprocess: standardize}, model: {kernel: [se, linear], likelihood: probit, inference: laplace},
		tune: {method: bfgs, restarts: 2}, evaluate: {nested: {outer: {kfold: {k: 2}}, inner: {kfold: {k: 2}}}}}`)
	var csv strings.Builder
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 48 {
		fmt.Fprintf(&csv, "%.3f,%.3f,%c\n", random.NormFloat64()+float64(i%2), random.NormFloat64(), 'a'+rune(i%2))
	}
	if err := os.WriteFile(filepath.Join(dir, "data, and $(HOME).csv"), []byte(csv.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	succeeds(t, dir, "run", "nested.yaml", "-o", "whole")
	folder := filepath.Join(dir, "$(HOME) 's: #1")
	args := []string{"submit", "kubernetes", "nested.yaml", "-o", folder, "--blocks", "3", "--image", "gpc-tune:test", "--claim", "study", "--mount", dir,
		"--parallelism", "2", "--storage", "10Gi", "--namespace", "on"}
	dry, err := gpcTune(t, dir, append(args, "--dry-run")...).Output()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(folder); err == nil {
		t.Error("a dry run wrote its folder")
	}
	said := succeeds(t, dir, args...)
	text, err := os.ReadFile(filepath.Join(folder, "kubernetes", "jobs.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.HasSuffix(dry, text) || !bytes.HasPrefix(dry, []byte("# ")) || !bytes.Contains(dry, []byte("\n# FROM scratch\n")) {
		t.Errorf("the dry run printed\n%s\nand what was sent is\n%s", dry, text)
	}
	all := manifests(t, dry)
	if len(all) < 4 || all[0].Kind != "PersistentVolumeClaim" || all[0].Metadata.Name != "study" || all[0].Metadata.Namespace != "on" {
		t.Fatalf("%d objects, the first %+v", len(all), all[0])
	}
	run := all[1].Metadata.Labels["app.kubernetes.io/instance"]
	sent, err := os.ReadFile(asked)
	if err != nil {
		t.Error(err)
	}
	golden.Equal(t, "what kubectl was asked", sent, "delete jobs --ignore-not-found --cascade=foreground --timeout=90s"+
		" --selector=app.kubernetes.io/instance="+run+" --namespace=on\napply --filename="+folder+"/kubernetes/jobs.yaml\n")
	for _, m := range all[2 : len(all)-1] {
		if want := "job.batch/" + m.Metadata.Name + " is suspended until the previous wave is finished"; !strings.Contains(said, want) {
			t.Errorf("submit says %q, and not %q", said, want)
		}
	}
	pod := func(m manifest, index int) string {
		t.Helper()
		worker := m.Spec.Template.Spec.Containers[0]
		if worker.Command[0] != "/gpc-tune" || worker.VolumeMounts[0].MountPath != dir || m.Spec.Template.Spec.Volumes[0].PersistentVolumeClaim.ClaimName != "study" {
			t.Fatalf("%+v", worker)
		}
		args := expanded(worker.Args)
		c := gpcTune(t, "/", args...)
		c.Env = []string{"PATH=" + os.Getenv("PATH"), fmt.Sprintf("JOB_COMPLETION_INDEX=%d", index)}
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%q: %v\n%s", args, err, out)
		}
		return string(out)
	}
	for i, m := range all[1 : len(all)-1] {
		if m.Spec.Suspend != (i > 0) || m.Spec.CompletionMode != "Indexed" || m.Spec.Parallelism > 2 || m.Metadata.Namespace != "on" || m.Metadata.Labels["app.kubernetes.io/instance"] != run {
			t.Errorf("Job %d of the waves: %+v", i, m)
		}
		before, _ := journalled(t, folder)
		for _, index := range random.Perm(m.Spec.Completions) {
			pod(m, index)
		}
		if after, _ := journalled(t, folder); after <= before {
			t.Errorf("the pods of %s have done nothing", m.Metadata.Name)
		}
	}
	if end := all[len(all)-1]; end.Spec.CompletionMode != "" || end.Spec.Suspend || !strings.HasSuffix(end.Metadata.Name, "-rest") {
		t.Errorf("%+v", end)
	} else if out := pod(end, 0); !strings.Contains(out, "results: ") {
		t.Error(out)
	}
	if lines, jobs := journalled(t, folder); lines != jobs {
		t.Errorf("%d lines of %d jobs", lines, jobs)
	}
	golden.Equal(t, "results.json differs from that of one process", results(t, folder), results(t, filepath.Join(dir, "whole")))
}
