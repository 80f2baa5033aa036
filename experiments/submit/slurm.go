package submit

import (
	"context"
	_ "embed"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"github.com/spf13/pflag"

	"github.com/gpc-tune/gpc-tune/experiments/run"
	"github.com/gpc-tune/gpc-tune/internal/pattern"
	"github.com/gpc-tune/gpc-tune/internal/terminal"
	"github.com/gpc-tune/gpc-tune/reports"
)

// slurm submits jobs with the sbatch of this machine: an array for every wave of blocks, which
// waits for the previous wave, and a job for the rest, which waits for the last wave. Slurm's job
// identifiers are used within one submission and never stored: a job of a run is identified by its
// name, which contains the run's ID, the wave and the blocks.
type slurm struct {
	partition, time, memory, template string
	parallelism, maxArraySize         int
	force                             bool
}

func (e *slurm) Flags(f *pflag.FlagSet) {
	f.StringVar(&e.partition, "partition", "", "partition (default: that of the cluster)")
	f.StringVar(&e.time, "time", "", "time limit of a block, as in 8:00:00 or 2-12 (default: twice the expected "+
		"time, plus ten minutes)")
	f.StringVar(&e.memory, "mem", "", "memory of a block, as in 16G (default: what its jobs and the journal need)")
	f.IntVar(&e.parallelism, "array-parallelism", 0,
		"number of blocks that run at the same time; 0 leaves it to the cluster")
	f.StringVar(&e.template, "template", "",
		"your own batch script, with the placeholders {{.Directives}} and {{.Command}}")
	f.IntVar(&e.maxArraySize, "max-array-size", 0,
		"largest job array that the cluster accepts (default: what scontrol reports, or 1001)")
	f.BoolVar(&e.force, "force", false, "submit also blocks that are already in the queue")
}

// plainWord is the form of option values for sbatch.
var plainWord = pattern.Of(`^[A-Za-z0-9_.,:+-]*$`)

func (e *slurm) Check() error {
	for _, o := range [][2]string{{"--partition", e.partition}, {"--time", e.time}, {"--mem", e.memory}} {
		if !plainWord().MatchString(o[1]) {
			return fmt.Errorf("%w: %s %q has characters that sbatch does not take", ErrOptions, o[0], o[1])
		}
	}
	if e.parallelism < 0 || e.maxArraySize < 0 {
		return fmt.Errorf("%w: --array-parallelism and --max-array-size must not be negative", ErrOptions)
	}
	script, err := e.script(map[string]string{"Name": "NAME", "Directives": "#SBATCH", "Command": "exec"})
	if err != nil {
		return fmt.Errorf("%w: --template: %w", ErrOptions, err)
	}
	if !strings.HasPrefix(script, "#!") || !strings.Contains(script, "\nexec") {
		return fmt.Errorf("%w: --template %s: a batch script begins with #! and has {{.Command}} on a line of "+
			"its own", ErrOptions, e.template)
	}
	return nil
}

//go:embed slurm.sh
var batchScript string

func (e *slurm) script(fields map[string]string) (string, error) {
	text := batchScript
	if e.template != "" {
		own, err := os.ReadFile(e.template)
		if err != nil {
			return "", err
		}
		text = string(own)
	}
	t, err := template.New("script").Option("missingkey=error").Parse(text)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	err = t.Execute(&out, fields)
	return out.String(), err
}

// The script is slurm/worker.sh in the run folder; the logs are in slurm too.
const (
	slurmFolder  = "slurm"
	workerScript = "worker.sh"
)

// Submit sends the blocks that are neither on record nor in the queue.
func (e *slurm) Submit(ctx context.Context, r *Run) (done bool, err error) {
	if err := r.lasting(); err != nil {
		return false, err
	}
	queue, err := e.queue(ctx, r.ID)
	if err != nil && !r.DryRun {
		return false, err
	}
	size := e.maxArraySize
	if size == 0 {
		size = maxArraySize(ctx)
	}
	script, err := e.worker(r)
	if err != nil {
		return false, err
	}
	s := sending{slurm: e, ctx: ctx, r: r, queue: queue}
	if r.DryRun {
		end := "END"
		for slices.Contains(strings.Split(script, "\n"), end) { // a name or a template may contain such a line
			end += "_"
		}
		if !strings.HasSuffix(script, "\n") {
			script += "\n"
		}
		fmt.Fprintf(r.Out, "mkdir -p %[1]s && cd %[1]s/.. && cat > %s/%s <<'%[4]s'\n%[5]s%[4]s\n",
			terminal.CommandLine(filepath.Join(r.Dir, slurmFolder)), slurmFolder, workerScript, end, script)
	} else if err := r.keep(slurmFolder, map[string]string{workerScript: script}); err != nil {
		return false, err
	}
	for _, wave := range r.Workload.Waves {
		if err := s.wave(wave, size); err != nil {
			return false, err
		}
	}
	return false, s.rest()
}

// worker returns the script of every job. Its arguments are the block.
func (e *slurm) worker(r *Run) (string, error) {
	memory, asked := r.memory()
	directives := []string{"--cpus-per-task=" + strconv.Itoa(r.Jobs)}
	if e.memory != "" {
		directives = append(directives, "--mem="+e.memory)
	} else {
		directives = append(directives, fmt.Sprintf("--mem=%dM", asked))
	}
	if e.partition != "" {
		directives = append(directives, "--partition="+e.partition)
	}
	directives = append(directives, "--requeue", "--open-mode=append", "--signal=B:TERM@60",
		"--output="+slurmFolder+"/%x.%A_%a.log")
	return e.script(map[string]string{
		"Name":       r.Plan.Name(),
		"Directives": "#SBATCH " + strings.Join(directives, "\n#SBATCH "),
		"Command":    "exec " + terminal.CommandLine(r.worker(memory)...) + ` "$@"`,
	})
}

// queued is a job, or a task of an array, in the cluster's queue.
type queued struct {
	job   string
	name  string
	state string
	wave  int // wave of a block; -1 for the rest
	block int
	of    int
}

// jobNames matches the end of job names: the run, and the rest or the wave, first block and number
// of blocks.
var jobNames = pattern.Of(`\.([0-9a-f]{8})\.(?:rest|w(\d+)\.(\d+)of(\d+))$`)

// queue lists the jobs of a run in the queue.
func (e *slurm) queue(ctx context.Context, id string) (all []queued, err error) {
	out, err := command(ctx, "", "squeue", "--me", "--noheader", "--array", "--format=%F|%K|%T|%j")
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(out) {
		fields := strings.SplitN(strings.TrimSpace(line), "|", 4)
		if len(fields) < 4 {
			continue
		}
		m := jobNames().FindStringSubmatch(fields[3])
		if m == nil || m[1] != id {
			continue
		}
		q := queued{job: fields[0], name: fields[3], state: fields[2], wave: -1}
		if m[2] != "" {
			task, err := strconv.Atoi(fields[1])
			if err != nil {
				return nil, fmt.Errorf("%w: squeue lists %q, which is no task of an array", ErrEngine, line)
			}
			q.wave, _ = strconv.Atoi(m[2])
			first, _ := strconv.Atoi(m[3])
			q.of, _ = strconv.Atoi(m[4])
			q.block = first + task
		}
		all = append(all, q)
	}
	return all, nil
}

// Queue counts the blocks that are in the queue.
func (e *slurm) Queue(ctx context.Context, id string) (reports.Queue, error) {
	all, err := e.queue(ctx, id)
	var q reports.Queue
	for _, j := range all {
		if j.state == "PENDING" {
			q.Pending++
		} else {
			q.Running++
		}
	}
	return q, err
}

// maxArraySize is the limit on the size of an array: one more than its largest index.
func maxArraySize(ctx context.Context) int {
	const usual = 1001
	out, err := command(ctx, "", "scontrol", "show", "config")
	if err != nil {
		return usual
	}
	for line := range strings.Lines(out) {
		name, value, _ := strings.Cut(line, "=")
		if n, err := strconv.Atoi(strings.TrimSpace(value)); err == nil && n > 0 &&
			strings.TrimSpace(name) == "MaxArraySize" {
			return n
		}
	}
	return usual
}

// sending is the state of a submission.
type sending struct {
	*slurm
	ctx   context.Context
	r     *Run
	queue []queued
	after []string // jobs that the next wave waits for
	sent  int
}

// wave sends the blocks of a wave that are not in the queue, in arrays of the maximum size.
func (s *sending) wave(w run.Wave, size int) error {
	var before, now []string // jobs of the queue
	there := map[int]bool{}
	for _, q := range s.queue {
		if q.wave != w.Index {
			continue
		}
		if q.of != s.r.Blocks && !s.force {
			return fmt.Errorf("%w: the queue holds blocks of another division (%d blocks, as in job %s; here "+
				"%d); submit with --blocks %d, cancel them, or use "+
				"--force", ErrOptions, q.of, q.job, s.r.Blocks, q.of)
		}
		there[q.block] = true
		now = append(now, q.job)
	}
	before, s.after = s.after, now
	chunks := map[int][]int{} // indices of blocks by the number of the array
	for _, b := range w.Blocks {
		if !there[b] || s.force {
			chunks[b/size] = append(chunks[b/size], b%size)
		}
	}
	for _, chunk := range slices.Sorted(maps.Keys(chunks)) {
		if s.sent == 0 {
			if err := s.withdraw(w.Index); err != nil {
				return err
			}
		}
		first := chunk * size
		array := ranges(chunks[chunk])
		if s.parallelism > 0 {
			array += "%" + strconv.Itoa(s.parallelism)
		}
		name := fmt.Sprintf("w%d.%dof%d", w.Index, first, s.r.Blocks)
		seconds := max(w.Seconds/float64(s.r.Jobs), w.Longest)
		block := []string{"--blocks", strconv.Itoa(s.r.Blocks), "--first", strconv.Itoa(first)}
		if err := s.sbatch(name, "--array="+array, seconds, before, block...); err != nil {
			return err
		}
	}
	return nil
}

// withdraw cancels the queued jobs that wait for a wave. More blocks of this wave are about to be
// sent, and the cancelled jobs would not have waited for them.
func (s *sending) withdraw(wave int) error {
	var names []string
	s.queue = slices.DeleteFunc(s.queue, func(q queued) bool {
		late := q.state == "PENDING" && (q.wave > wave || q.wave < 0)
		if late && !slices.Contains(names, q.name) {
			names = append(names, q.name)
		}
		return late
	})
	for _, name := range names {
		args := []string{"--me", "--state=PENDING", "--name=" + name}
		if s.r.DryRun {
			fmt.Fprintln(s.r.Out, terminal.CommandLine(append([]string{"scancel"}, args...)...))
		} else if _, err := command(s.ctx, "", "scancel", args...); err != nil {
			return err
		}
	}
	return nil
}

// rest sends the job that ends the run, unless it is in the queue.
func (s *sending) rest() error {
	if slices.ContainsFunc(s.queue, func(q queued) bool { return q.wave < 0 }) && !s.force {
		if s.sent == 0 {
			fmt.Fprintf(s.r.Log, "all missing jobs are in the queue already; see gpc-tune status %s\n",
				terminal.CommandLine(s.r.Dir))
		}
		return nil
	}
	after := slices.Clone(s.after)
	for _, q := range s.queue {
		if q.wave >= 0 {
			after = append(after, q.job)
		}
	}
	if s.time == "" && !s.r.Measured {
		fmt.Fprintln(s.r.Log, "warning: times are unknown, so no time limit is requested, and the default of the "+
			"cluster applies; --measure times the models, --time sets the limit")
	}
	return s.sbatch(rest, "--output="+slurmFolder+"/%x.%A.log", s.r.Workload.Rest/float64(s.r.Jobs), after, "--block",
		rest)
}

// sbatch sends a job with this expected computing time, which starts after the jobs in after have
// ended, successfully or not.
func (s *sending) sbatch(name, option string, seconds float64, after []string, block ...string) error {
	s.sent++
	args := []string{"--parsable", "--comment=gpc-tune " + s.r.ID,
		"--job-name=" + s.r.Plan.Name() + "." + s.r.ID + "." + name, option}
	switch {
	case s.time != "":
		args = append(args, "--time="+s.time)
	case s.r.Measured: // the limit, in minutes
		args = append(args, "--time="+strconv.Itoa(10+int(math.Ceil(2*seconds/60))))
	} // otherwise the cluster's default applies
	script := append([]string{slurmFolder + "/" + workerScript}, block...)
	depends := ""
	if slices.Sort(after); len(after) > 0 {
		depends = "--dependency=afterany:" + strings.Join(slices.Compact(after), ":")
	}
	if s.r.DryRun { // earlier jobs are shell variables, which must not be quoted
		fmt.Fprintf(s.r.Out, "job%d=$(sbatch %s %s %s)\n", s.sent, terminal.CommandLine(args...), depends,
			terminal.CommandLine(script...))
		s.after = append(s.after, fmt.Sprintf("${job%d%%%%;*}", s.sent))
		return nil
	}
	if depends != "" {
		args = append(args, depends)
	}
	out, err := command(s.ctx, s.r.Dir, "sbatch", append(args, script...)...)
	if err != nil {
		return fmt.Errorf("%w\nrepeat the command to submit what is missing", err)
	}
	job, _, _ := strings.Cut(strings.TrimSpace(out), ";")
	fmt.Fprintf(s.r.Log, "job %s: %s\n", job, strings.Join(block, " "))
	s.after = append(s.after, job)
	return nil
}

// ranges formats ascending numbers like 0-3,5,7-8.
func ranges(n []int) string {
	var parts []string
	for i := 0; i < len(n); {
		k := i
		for k+1 < len(n) && n[k+1] == n[k]+1 {
			k++
		}
		part := strconv.Itoa(n[i])
		if k > i {
			part += "-" + strconv.Itoa(n[k])
		}
		parts, i = append(parts, part), k+1
	}
	return strings.Join(parts, ",")
}
