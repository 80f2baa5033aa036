//go:build unix

package submit

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/gpc-tune/gpc-tune/experiments/plan/plantest"
	"github.com/gpc-tune/gpc-tune/experiments/run"
	"github.com/gpc-tune/gpc-tune/reports"
)

// standIns puts shell scripts with these texts, by the names of commands, before others on the PATH, and returns their
// folder, which is $FAKE in them.
func standIns(t *testing.T, scripts map[string]string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	t.Setenv("FAKE", dir)
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	for name, text := range scripts {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// keep writes a file of the stand-ins.
func keep(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// kubectl is a stand-in that notes its arguments, and prints the file with the name of the
// requested kind.
const kubectl = `echo "$@" >> "$FAKE/calls"; cat "$FAKE/$2"`

// The status of a run on Kubernetes counts blocks by the status of their Jobs and pods, and quotes
// why pods do not start.
func TestKubernetesQueue(t *testing.T) {
	dir := standIns(t, map[string]string{"kubectl": kubectl})
	for _, c := range []struct {
		name, objects, events string
		want                  reports.Queue
	}{
		{name: "nothing"},
		{name: "a Job with four of ten blocks left, two of which run", objects: `
			{"kind": "Job", "metadata": {"name": "j", "labels": {"app.kubernetes.io/component": "w0"}},
				"spec": {"completions": 10, "parallelism": 2}, "status": {"active": 2, "succeeded": 2, "failedIndexes": "1,3-5"}},
			{"kind": "Pod", "metadata": {"labels": {"app.kubernetes.io/component": "w0"}}, "status": {"phase": "Running"}},
			{"kind": "Pod", "metadata": {"labels": {"app.kubernetes.io/component": "w0"}}, "status": {"phase": "Running"}},
			{"kind": "Pod", "metadata": {"labels": {"app.kubernetes.io/component": "w1"}}, "status": {"phase": "Running"}},
			{"kind": "Pod", "metadata": {"labels": {"app.kubernetes.io/component": "w0"}}, "status": {"phase": "Succeeded"}}`,
			want: reports.Queue{Running: 2, Pending: 2}},
		{name: "a pod that is being removed does not run", objects: `
			{"kind": "Job", "metadata": {"name": "j"}, "spec": {"completions": 3, "parallelism": 1}, "status": {"active": 1}},
			{"kind": "Pod", "metadata": {"deletionTimestamp": "2026-01-02T03:04:05Z"}, "status": {"phase": "Running"}}`,
			want: reports.Queue{Pending: 3}},
		{name: "no more blocks run than are left", objects: `
			{"kind": "Job", "metadata": {"name": "j"}, "spec": {"completions": 3}, "status": {"active": 2, "succeeded": 2}},
			{"kind": "Pod", "status": {"phase": "Running"}}, {"kind": "Pod", "status": {"phase": "Running"}}`,
			want: reports.Queue{Running: 1}},
		{name: "a suspended Job without completions is one block", objects: `
			{"kind": "Job", "metadata": {"name": "j"}, "spec": {"suspend": true}}`,
			want: reports.Queue{Suspended: 1}},
		{name: "of a Job suspended while a block runs, the others wait to be resumed", objects: `
			{"kind": "Job", "metadata": {"name": "j"}, "spec": {"suspend": true, "completions": 3}},
			{"kind": "Pod", "status": {"phase": "Running"}}`,
			want: reports.Queue{Running: 1, Suspended: 2}},
		{name: "complete and failed Jobs have nothing left", objects: `
			{"kind": "Job", "metadata": {"name": "done"}, "spec": {"completions": 3},
				"status": {"conditions": [{"type": "Failed", "status": "False"}, {"type": "Complete", "status": "True"}]}},
			{"kind": "Job", "metadata": {"name": "late"}, "spec": {"completions": 3},
				"status": {"conditions": [{"type": "Failed", "status": "True", "reason": "DeadlineExceeded"}]}},
			{"kind": "Job", "metadata": {"name": "lost"}, "spec": {"completions": 3},
				"status": {"conditions": [{"type": "Failed", "status": "True", "reason": "R", "message": "no more tries"}]}}`,
			want: reports.Queue{Messages: []string{"job late has failed: DeadlineExceeded", "job lost has failed: no more tries"}}},
		{name: "pods say why they do not start, each reason once", objects: `
			{"kind": "Pod", "metadata": {"name": "p"}, "status": {"phase": "Pending", "conditions":
				[{"type": "PodScheduled", "status": "False", "message": "Insufficient memory"}]}},
			{"kind": "Pod", "metadata": {"name": "p"}, "status": {"phase": "Pending", "conditions":
				[{"type": "PodScheduled", "status": "False", "message": "Insufficient memory"}]}},
			{"kind": "Pod", "metadata": {"name": "o"}, "status": {"phase": "Running", "conditions":
				[{"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}, {"type": "PodScheduled", "status": "True"}]}},
			{"kind": "Pod", "metadata": {"name": "q"}, "status": {"phase": "Pending", "containerStatuses": [
				{"state": {"waiting": {"reason": "ContainerCreating"}}}, {"state": {"waiting": {"reason": "PodInitializing"}}}, {"state": {}},
				{"state": {"waiting": {"reason": "ErrImagePull", "message": "not found"}}}, {"state": {"waiting": {"reason": "CrashLoopBackOff"}}}]}},
			{"kind": "Pod", "metadata": {"name": "ended"}, "status": {"phase": "Failed", "conditions":
				[{"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}]}}`,
			want: reports.Queue{Messages: []string{
				"pod o is taken away: PreemptionByScheduler", "pod p has no node: Insufficient memory",
				"pod q does not start: CrashLoopBackOff", "pod q does not start: ErrImagePull: not found",
			}}},
		{name: "the last refusal of a Job that lacks pods", objects: `
			{"kind": "Job", "metadata": {"name": "lacks"}, "spec": {"completions": 5, "parallelism": 3}, "status": {"active": 2}},
			{"kind": "Job", "metadata": {"name": "has"}, "spec": {"completions": 5, "parallelism": 3}, "status": {"active": 3}},
			{"kind": "Job", "metadata": {"name": "last"}, "spec": {"completions": 5, "parallelism": 3}, "status": {"active": 1, "succeeded": 4}}`,
			events: `
			{"involvedObject": {"name": "lacks"}, "message": "quota 2", "lastTimestamp": "2026-01-02T03:04:06Z"},
			{"involvedObject": {"name": "lacks"}, "message": "quota 1", "lastTimestamp": "2026-01-02T03:04:05Z"},
			{"involvedObject": {"name": "last"}, "message": "none", "lastTimestamp": "2026-01-02T03:04:05Z"},
			{"involvedObject": {"name": "has"}, "message": "none", "lastTimestamp": "2026-01-02T03:04:05Z"}`,
			want: reports.Queue{Pending: 11, Messages: []string{"job lacks lacks pods: quota 2"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			keep(t, dir, "jobs,pods", `{"items": [`+c.objects+`]}`)
			keep(t, dir, "events", `{"items": [`+c.events+`]}`)
			got, err := (&kubernetes{}).Queue(t.Context(), "0123abcd")
			if err != nil {
				t.Fatal(err)
			}
			if got.Running != c.want.Running || got.Pending != c.want.Pending || got.Suspended != c.want.Suspended ||
				!slices.Equal(got.Messages, c.want.Messages) {
				t.Errorf("%+v, want %+v", got, c.want)
			}
		})
	}
}

// Requests name the run and the namespace. Without the permission to read events there are no
// reasons. It is an error if kubectl does not answer, or not in JSON.
func TestKubernetesQueueAsks(t *testing.T) {
	dir := standIns(t, map[string]string{"kubectl": kubectl})
	keep(t, dir, "jobs,pods", `{"items": [{"kind": "Job", "metadata": {"name": "j"}, "spec": {"completions": 2}}]}`)
	q, err := (&kubernetes{namespace: "mine"}).Queue(t.Context(), "0123abcd")
	if err != nil || q.Pending != 2 || len(q.Messages) > 0 {
		t.Errorf("%+v, error %v", q, err)
	}
	calls, err := os.ReadFile(filepath.Join(dir, "calls"))
	if err != nil {
		t.Fatal(err)
	}
	asked := strings.Split(string(calls), "\n")
	for _, option := range []string{"get jobs,pods ", "--selector=app.kubernetes.io/instance=gpc-tune-0123abcd ", "--output=json", "--namespace=mine"} {
		if !strings.Contains(asked[0]+" ", option) {
			t.Errorf("kubectl %s: no %s", asked[0], option)
		}
	}
	for text, part := range map[string]string{"<html>": "kubectl get: invalid character", "": "kubectl get: unexpected end"} {
		keep(t, dir, "jobs,pods", text)
		if _, err := (&kubernetes{}).Queue(t.Context(), "0123abcd"); !errors.Is(err, ErrEngine) || !strings.Contains(err.Error(), part) {
			t.Errorf("%q: error %v", text, err)
		}
	}
	if err := os.Remove(filepath.Join(dir, "jobs,pods")); err != nil {
		t.Fatal(err)
	}
	if _, err := (&kubernetes{}).Queue(t.Context(), "0123abcd"); !errors.Is(err, ErrEngine) || !strings.Contains(err.Error(), "No such file") {
		t.Errorf("kubectl failed: error %v", err)
	}
}

// slurmed are the stand-ins of Slurm: sbatch needs its script, notes its arguments and numbers jobs
// from 101, squeue prints the file queue.
func slurmed(t *testing.T, config string) (dir string) {
	dir = standIns(t, map[string]string{
		"sbatch":   `test -f slurm/worker.sh || exit 1; echo "$@" >> "$FAKE/sent"; n=$((100 + $(grep -c . "$FAKE/sent"))); echo "$n;cluster"`,
		"squeue":   `cat "$FAKE/queue"`,
		"scontrol": config,
		"scancel":  `echo "$@" >> "$FAKE/cancelled"`,
	})
	keep(t, dir, "queue", "")
	return dir
}

// sent are the lines that a stand-in noted.
func sent(t *testing.T, dir, name string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
}

// twoWaves is a run of two waves of six blocks on two processors each. By measured rates a block of the first takes
// 600 s, one of the second 90 s, as its longest unit does, and the rest 31 s.
func twoWaves(t *testing.T) *Run {
	t.Helper()
	r := laidOut(t, &strings.Builder{})
	r.Jobs, r.Measured, r.Program = 2, true, "/opt/gpc-tune"
	r.Workload = run.Workload{Rest: 62, Memory: 1 << 30, Waves: []run.Wave{
		{Index: 0, Blocks: []int{0, 1, 2, 3, 4, 5}, Seconds: 1200, Longest: 100},
		{Index: 1, Blocks: []int{0, 2, 3, 5}, Seconds: 60, Longest: 90},
	}}
	return r
}

// A wave is sent in arrays that the cluster accepts, waits for the wave before it alone, and gets twice its time and
// ten minutes.
func TestSlurmSendsWaves(t *testing.T) {
	dir := slurmed(t, "echo 'MaxJobCount = 3'; echo 'MaxArraySize            = 4'")
	r := twoWaves(t)
	if done, err := (&slurm{parallelism: 1}).Submit(t.Context(), r); done || err != nil {
		t.Fatal(done, err)
	}
	name := "--job-name=" + r.Plan.Name() + "." + r.ID + "."
	want := []string{
		name + "w0.0of6 --array=0-3%1 --time=30 slurm/worker.sh --blocks 6 --first 0",
		name + "w0.4of6 --array=0-1%1 --time=30 slurm/worker.sh --blocks 6 --first 4",
		name + "w1.0of6 --array=0,2-3%1 --time=13 --dependency=afterany:101:102 slurm/worker.sh --blocks 6 --first 0",
		name + "w1.4of6 --array=1%1 --time=13 --dependency=afterany:101:102 slurm/worker.sh --blocks 6 --first 4",
		name + "rest --output=slurm/%x.%A.log --time=12 --dependency=afterany:103:104 slurm/worker.sh --block rest",
	}
	for k := range want {
		want[k] = "--parsable --comment=gpc-tune " + r.ID + " " + want[k]
	}
	if got := sent(t, dir, "sent"); !slices.Equal(got, want) {
		t.Errorf("sbatch gets\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	script, err := os.ReadFile(filepath.Join(r.Dir, "slurm", "worker.sh"))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"#SBATCH --cpus-per-task=2", "#SBATCH --mem=3072M", "#SBATCH --requeue", // 2 GiB, a quarter more, 512 MiB
		"exec /opt/gpc-tune worker " + r.Dir + ` -j 2 --memory 2147483648 "$@"`} {
		if !strings.Contains("\n"+string(script), "\n"+line+"\n") {
			t.Errorf("no line %s in\n%s", line, script)
		}
	}
}

// The output of a dry run, run in a shell, does the same as the submission, also if a template does
// not end its last line.
func TestSlurmDryRunIsAScript(t *testing.T) {
	own := filepath.Join(t.TempDir(), "own.sh")
	for _, text := range []string{"", "#!/bin/sh\n{{.Directives}}\n{{.Command}}\nEND"} {
		dir := slurmed(t, "echo 'MaxArraySize = 4'")
		e := &slurm{}
		if text != "" {
			keep(t, filepath.Dir(own), "own.sh", text)
			e.template = own
		}
		r := twoWaves(t)
		var out strings.Builder
		r.DryRun, r.Out = true, &out
		if done, err := e.Submit(t.Context(), r); done || err != nil {
			t.Fatal(done, err)
		}
		worker := filepath.Join(r.Dir, "slurm", "worker.sh")
		if _, err := os.Stat(worker); !os.IsNotExist(err) || len(sent(t, dir, "sent")[0]) > 0 {
			t.Errorf("a dry run has written or sent something: %v", err)
		}
		c := exec.CommandContext(t.Context(), "sh", "-e")
		c.Stdin = strings.NewReader(out.String())
		if said, err := c.CombinedOutput(); err != nil || len(said) > 0 {
			t.Fatalf("%v: %s\n%s", err, said, &out)
		}
		dry, script := sent(t, dir, "sent"), sent(t, filepath.Dir(worker), "worker.sh")
		if err := errors.Join(os.Remove(filepath.Join(dir, "sent")), os.Remove(worker)); err != nil {
			t.Fatal(err)
		}
		r.DryRun = false
		if _, err := e.Submit(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		if got := sent(t, dir, "sent"); len(got) != 5 || !slices.Equal(dry, got) {
			t.Errorf("the dry run sends\n%s\nwant\n%s", strings.Join(dry, "\n"), strings.Join(got, "\n"))
		}
		if want := sent(t, filepath.Dir(worker), "worker.sh"); len(want) < 3 || !slices.Equal(script, want) {
			t.Errorf("the dry run writes\n%s\nwant\n%s", strings.Join(script, "\n"), strings.Join(want, "\n"))
		}
	}
}

// The time limit of a job is the requested one, or else twice the expected time plus ten minutes.
// If times are unknown, it is the default of the cluster, with a message.
func TestSlurmTimes(t *testing.T) {
	for _, c := range []struct {
		time     string
		measured bool
		want     []string // limits of a block of each wave and of the rest; "": none
	}{{"2:00:00", true, []string{"2:00:00", "2:00:00", "2:00:00"}}, {"90", false, []string{"90", "90", "90"}},
		{"", true, []string{"30", "13", "12"}}, {"", false, []string{"", "", ""}}} {
		dir := slurmed(t, "exit 1")
		r := twoWaves(t)
		var log strings.Builder
		r.Measured, r.Log = c.measured, &log
		if _, err := (&slurm{time: c.time}).Submit(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, line := range sent(t, dir, "sent") {
			_, after, _ := strings.Cut(line, "--time=")
			time, _, _ := strings.Cut(after, " ")
			got = append(got, time)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%+v: %q", c, got)
		}
		if told := strings.Contains(log.String(), "warning: times are unknown"); told != (c.time == "" && !c.measured) {
			t.Errorf("%+v: %s", c, &log)
		}
	}
}

// If blocks of an earlier wave are missing in the queue, queued jobs that wait for that wave are
// cancelled and sent again. Running jobs stay.
func TestSlurmWithdrawsWhatWouldNotWait(t *testing.T) {
	dir := slurmed(t, "exit 1")
	r := twoWaves(t)
	name := r.Plan.Name() + "." + r.ID + "."
	var queue strings.Builder
	for _, line := range []string{
		"7|0|RUNNING|" + name + "w0.0of6", "7|1|PENDING|" + name + "w0.0of6", "8|0|RUNNING|" + name + "w1.0of6",
		"8|2|PENDING|" + name + "w1.0of6", "9|N/A|PENDING|" + name + "rest", "1|0|PENDING|" + r.Plan.Name() + ".ffffffff.w1.0of6", "too|short",
	} {
		queue.WriteString(line + "\n")
	}
	keep(t, dir, "queue", queue.String())
	q, err := (&slurm{}).Queue(t.Context(), r.ID)
	if err != nil || q.Running != 2 || q.Pending != 3 {
		t.Errorf("%+v, error %v", q, err)
	}
	var dry strings.Builder
	r.DryRun, r.Out = true, &dry
	if _, err := (&slurm{}).Submit(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"scancel --me --state=PENDING --name=" + name + "w1.0of6", "scancel --me --state=PENDING --name=" + name + "rest"} {
		if !strings.Contains(dry.String(), "\n"+line+"\n") {
			t.Errorf("a dry run has no line %s:\n%s", line, &dry)
		}
	}
	r.DryRun = false
	if _, err := (&slurm{memory: "7G", partition: "long"}).Submit(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if got, want := sent(t, dir, "cancelled"), []string{"--me --state=PENDING --name=" + name + "w1.0of6", "--me --state=PENDING --name=" + name + "rest"}; !slices.Equal(got, want) {
		t.Errorf("cancelled %q, want %q", got, want)
	}
	for k, part := range []string{
		"w0.0of6 --array=2-5 --time=30 slurm/worker.sh",
		"w1.0of6 --array=2-3,5 --time=13 --dependency=afterany:101:7 slurm/worker.sh",
		"rest --output=slurm/%x.%A.log --time=12 --dependency=afterany:102:7:8 slurm/worker.sh",
	} {
		if line := sent(t, dir, "sent")[k]; !strings.Contains(line, name+part) {
			t.Errorf("sbatch %d: %s, want %s", k, line, part)
		}
	}
	script, err := os.ReadFile(filepath.Join(r.Dir, "slurm", "worker.sh"))
	if err != nil || !strings.Contains(string(script), "\n#SBATCH --mem=7G\n#SBATCH --partition=long\n") {
		t.Errorf("error %v, script\n%s", err, script)
	}
}

// The largest array is the limit that scontrol reports, or 1001, the default of Slurm.
func TestSlurmMaxArraySize(t *testing.T) {
	for config, want := range map[string]int{
		"echo 'MaxArraySize = 77'":  77,
		"echo 'MaxArraySize = 1'":   1,
		"echo 'MaxArraySize = 0'":   1001,
		"echo 'MaxArraySize = big'": 1001,
		"echo 'MaxJobCount = 5'":    1001,
		"exit 1":                    1001,
	} {
		slurmed(t, config)
		if got := maxArraySize(t.Context()); got != want {
			t.Errorf("%s: %d, want %d", config, got, want)
		}
	}
}

// Options that sbatch would not take are refused before anything is sent.
func TestSlurmChecksItsOptions(t *testing.T) {
	dir := t.TempDir()
	script := func(text string) string {
		path := filepath.Join(dir, "script.sh")
		keep(t, dir, "script.sh", text)
		return path
	}
	for _, e := range []*slurm{{}, {parallelism: 0, maxArraySize: 1}, {time: "2-12:00:00", memory: "16G", partition: "a,b_c-d.e+f"},
		{template: script("#!/bin/sh\n{{.Directives}}\n{{.Command}}")}} {
		if err := e.Check(); err != nil {
			t.Errorf("%+v: %v", e, err)
		}
	}
	for part, e := range map[string]*slurm{
		`--partition "a b"`: {partition: "a b"}, `--time "1;2"`: {time: "1;2"}, `--mem "$M"`: {memory: "$M"},
		"--array-parallelism and --max-array-size must not be negative": {maxArraySize: -1},
		"no such file": {template: filepath.Join(dir, "none")},
	} {
		if err := e.Check(); !errors.Is(err, ErrOptions) || !strings.Contains(err.Error(), part) {
			t.Errorf("%+v: error %v, want %s", e, err, part)
		}
	}
	for _, text := range []string{"{{.Command}}\n", "#!/bin/sh\n", "#!/bin/sh\ntime {{.Command}}\n", "#!/bin/sh\n{{.Other}}\n"} {
		if err := (&slurm{template: script(text)}).Check(); !errors.Is(err, ErrOptions) || !strings.Contains(err.Error(), "--template") {
			t.Errorf("%q: error %v", text, err)
		}
	}
}

// kubernetesObject has the fields of an object that decide what runs when.
type kubernetesObject struct {
	Kind     string
	Metadata struct {
		Name, Namespace string
		Labels          map[string]string
		Annotations     map[string]string
	}
	Spec struct {
		AccessModes []string
		Resources   struct{ Requests struct{ Storage string } }

		Suspend                                              bool
		Completions, Parallelism                             int
		BackoffLimit, BackoffLimitPerIndex, MaxFailedIndexes int
		PodFailurePolicy                                     struct {
			Rules []struct {
				Action      string
				OnExitCodes struct{ Values []int }
			}
		}
		Template struct {
			Metadata struct{ Labels map[string]string }
			Spec     struct {
				SecurityContext struct{ RunAsUser, RunAsGroup int }
				Containers      []struct {
					Args []string
					Env  []struct{ Name, Value string }
				}
			}
		}
	}
}

// A wave is a Job with a pod for every block from the first to the last that is missing, which waits for the wave
// before it. A worker that says that its input is invalid is not started again.
func TestKubernetesObjects(t *testing.T) {
	r := twoWaves(t)
	r.Workload.Waves[1].Blocks = []int{2, 5}
	made := func(e kubernetes) (all []kubernetesObject) {
		text, err := json.Marshal(e.objects(r))
		if err == nil {
			err = json.Unmarshal(text, &all)
		}
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	all := made(kubernetes{claim: "study", storage: "9Gi", namespace: "lab", parallelism: 5})
	if len(all) != 4 {
		t.Fatalf("%d objects", len(all))
	}
	if c := all[0]; c.Kind != "PersistentVolumeClaim" || c.Metadata.Name != "study" || c.Spec.Resources.Requests.Storage != "9Gi" ||
		!slices.Equal(c.Spec.AccessModes, []string{"ReadWriteMany"}) {
		t.Errorf("%+v", c)
	}
	for k, want := range []struct {
		name                           string
		suspend                        bool
		completions, parallelism, fail int
		codes                          []int
		block                          []string
	}{
		{"w0", false, 6, 5, 1, []int{2, 3}, []string{"--blocks", "6", "--first", "0"}},
		{"w1", true, 4, 4, 1, []int{2, 3}, []string{"--blocks", "6", "--first", "2"}},
		{"rest", false, 0, 0, 0, []int{2, 3, 4}, []string{"--block", "rest"}},
	} {
		job := all[k+1]
		s := job.Spec
		if job.Kind != "Job" || job.Metadata.Name != "gpc-tune-"+r.ID+"-"+want.name || job.Metadata.Namespace != "lab" ||
			s.Suspend != want.suspend || s.Completions != want.completions || s.Parallelism != want.parallelism ||
			s.MaxFailedIndexes != want.fail || s.BackoffLimit+s.BackoffLimitPerIndex != 5 {
			t.Errorf("%s: %+v", want.name, job)
		}
		if name := job.Metadata.Annotations["gpc-tune/experiment"]; name != r.Plan.Name() {
			t.Errorf("%s: the experiment is %q", want.name, name)
		}
		// The queue finds Jobs by these labels.
		for _, labels := range []map[string]string{job.Metadata.Labels, s.Template.Metadata.Labels} {
			if labels[instanceLabel] != instance(r) || labels[componentLabel] != want.name {
				t.Errorf("%s: labels %v", want.name, labels)
			}
		}
		if rules := s.PodFailurePolicy.Rules; len(rules) != 2 || !slices.Equal(rules[0].OnExitCodes.Values, want.codes) || rules[1].Action != "Ignore" {
			t.Errorf("%s: rules %+v", want.name, rules)
		}
		args := append(append([]string{"worker", r.Dir}, want.block...), "-j", "2", "--memory", "2147483648")
		if got := s.Template.Spec.Containers[0].Args; !slices.Equal(got, args) {
			t.Errorf("%s: worker %q, want %q", want.name, got, args)
		}
	}
	for last, fail := range map[int]int{9: 1, 10: 2} { // a tenth of the blocks, or the next larger number
		r.Workload.Waves = []run.Wave{{Blocks: []int{0, last}}}
		if s := made(kubernetes{claim: "study"})[0].Spec; s.Completions != last+1 || s.MaxFailedIndexes != fail {
			t.Errorf("%d blocks, %d may fail, want %d", s.Completions, s.MaxFailedIndexes, fail)
		}
	}
	r.Workload.Waves = []run.Wave{{Blocks: []int{0, 19_999}}} // the most that may run at once
	if s := made(kubernetes{claim: "study"})[0].Spec; s.Completions != 20_000 || s.Parallelism != 10_000 {
		t.Errorf("%d blocks, %d at once", s.Completions, s.Parallelism)
	}
	r.Workload = twoWaves(t).Workload
	// a pod runs as the user who submits, but never as root, and with the same instructions
	for _, simd := range []string{"", "generic"} {
		t.Setenv("GPC_TUNE_SIMD", simd)
		pod := made(kubernetes{claim: "study"})[0].Spec.Template.Spec
		who := pod.SecurityContext
		if root := os.Getuid() == 0; who.RunAsUser <= 0 || root && (who.RunAsUser != nobody || who.RunAsGroup != nobody) ||
			!root && (who.RunAsUser != os.Getuid() || who.RunAsGroup != os.Getgid()) {
			t.Errorf("user %d, group %d", who.RunAsUser, who.RunAsGroup)
		}
		env := pod.Containers[0].Env
		if len(env) != len(simd)/len("generic") || len(env) > 0 && (env[0].Name != "GPC_TUNE_SIMD" || env[0].Value != simd) {
			t.Errorf("with %q: %+v", simd, env)
		}
	}
	if all := made(kubernetes{claim: "study"}); len(all) != 3 || all[0].Spec.Parallelism != 6 || all[0].Metadata.Namespace != "" {
		t.Errorf("%+v", all)
	}
}

// Options of Kubernetes and of this machine that cannot work are refused before anything is sent.
func TestOptionsOfEngines(t *testing.T) {
	good := kubernetes{image: "registry.example.org/a/b:1@c", claim: "study", mount: "/data"}
	changed := func(change func(*kubernetes)) Engine {
		e := good
		change(&e)
		return &e
	}
	for _, e := range []Engine{&good, &local{}, &local{parallel: 1, retries: 1}, changed(func(e *kubernetes) {
		e.storage, e.memory, e.namespace, e.parallelism = "100Gi", "512M", "lab-1", 1
	}), changed(func(e *kubernetes) { e.claim = strings.Repeat("c", 253) })} {
		if err := e.Check(); err != nil {
			t.Errorf("%+v: %v", e, err)
		}
	}
	for part, e := range map[string]Engine{
		`--image ""`:         changed(func(e *kubernetes) { e.image = "" }),
		`--image "a b"`:      changed(func(e *kubernetes) { e.image = "a b" }),
		`--claim ""`:         changed(func(e *kubernetes) { e.claim = "" }),
		`--claim "ccc`:       changed(func(e *kubernetes) { e.claim = strings.Repeat("c", 254) }),
		`--storage "much"`:   changed(func(e *kubernetes) { e.storage = "much" }),
		`--mem "0Gi"`:        changed(func(e *kubernetes) { e.memory = "0Gi" }),
		`--namespace "Lab"`:  changed(func(e *kubernetes) { e.namespace = "Lab" }),
		`--mount "data"`:     changed(func(e *kubernetes) { e.mount = "data" }),
		`--mount "/a:b"`:     changed(func(e *kubernetes) { e.mount = "/a:b" }),
		"--parallelism must": changed(func(e *kubernetes) { e.parallelism = -1 }),
		"--retries and":      &local{retries: -1},
		"and --parallel":     &local{parallel: -1},
	} {
		if err := e.Check(); !errors.Is(err, ErrOptions) || !strings.Contains(err.Error(), part) {
			t.Errorf("%+v: error %v, want %s", e, err, part)
		}
	}
	flags := map[string]string{
		"local": "parallel retries", "slurm": "array-parallelism force max-array-size mem partition template time",
		"kubernetes": "claim image mem mount namespace parallelism storage",
	}
	for _, row := range Table { // what is not given leaves the choice to the engine, and a block is restarted five times
		e, err := row.New(nil)
		if err != nil {
			t.Fatal(err)
		}
		set := pflag.NewFlagSet("", pflag.ContinueOnError)
		e.Flags(set)
		var names []string
		set.VisitAll(func(f *pflag.Flag) {
			names = append(names, f.Name)
			want := map[string]string{"string": "", "int": "0", "bool": "false"}[f.Value.Type()]
			if f.Name == "retries" {
				want = "5"
			}
			if f.DefValue != want {
				t.Errorf("%s: --%s is %q by default, want %q", row.Name, f.Name, f.DefValue, want)
			}
		})
		if got := strings.Join(names, " "); got != flags[row.Name] {
			t.Errorf("%s has the options %s, want %s", row.Name, got, flags[row.Name])
		}
	}
}

// The status of a submitted run has its jobs in the queue and the next command. The status of other
// runs does not.
func TestStatus(t *testing.T) {
	slurmed(t, "exit 1")
	laid := func(engine string) *run.LaidOut {
		p := plantest.Planned(t, `{data: {dataset: crabs, subsample: 20}, tune: none, model: {kernel: se, likelihood: probit, inference: laplace}}`,
			"seed=7")
		l, err := run.LayOut(p, filepath.Join(t.TempDir(), "run"), run.LayOutOptions{Blocks: 2, Engine: engine, Options: []string{"--jobs=2", "--time=9"}})
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	l := laid("slurm")
	keep(t, os.Getenv("FAKE"), "queue", "7|0|RUNNING|t."+l.ID+".w0.0of2\n7|1|PENDING|t."+l.ID+".w0.0of2\n")
	var p reports.Progress
	if err := Status(t.Context(), l.Dir, &p); err != nil || p.Queue == nil || p.Queue.Engine != "slurm" || p.Queue.Running != 1 || p.Queue.Pending != 1 ||
		p.Queue.Failure != "" || p.Next != "gpc-tune submit slurm t.yaml -o "+l.Dir+" --jobs=2 --time=9 --set seed=7" {
		t.Errorf("%+v, queue %+v, error %v", p, p.Queue, err)
	}
	for name, c := range map[string]struct {
		dir      string
		finished bool
	}{"finished": {l.Dir, true}, "never submitted": {laid("").Dir, false}, "not laid out": {t.TempDir(), false}} {
		p := reports.Progress{Finished: c.finished}
		if err := Status(t.Context(), c.dir, &p); err != nil || p.Queue != nil || p.Next != "" {
			t.Errorf("%s: %+v, error %v", name, p, err)
		}
	}
	if err := os.Remove(filepath.Join(os.Getenv("FAKE"), "queue")); err != nil {
		t.Fatal(err)
	}
	p = reports.Progress{}
	if err := Status(t.Context(), l.Dir, &p); err != nil || !strings.Contains(p.Queue.Failure, "squeue") {
		t.Errorf("squeue fails: %+v, error %v", p.Queue, err)
	}
	local := laid("local")
	p = reports.Progress{}
	if err := Status(t.Context(), local.Dir, &p); err != nil || p.Queue != nil || !strings.HasPrefix(p.Next, "gpc-tune submit local ") {
		t.Errorf("local: %+v, error %v", p, err)
	}
}
