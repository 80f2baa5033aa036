package submit

import (
	"bytes"
	"cmp"
	"context"
	"debug/elf"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	gpctune "github.com/gpc-tune/gpc-tune"

	"github.com/gpc-tune/gpc-tune/experiments/run"
	"github.com/gpc-tune/gpc-tune/internal/pattern"
	"github.com/gpc-tune/gpc-tune/internal/strictyaml"
	"github.com/gpc-tune/gpc-tune/internal/terminal"
)

// kubernetes makes a Job for every wave of blocks, its pods indexed by block, and a Job for the
// rest. Jobs cannot depend on each other: the Jobs of later waves are suspended until someone
// resumes them or submits again. The Job of the rest starts at once, as one more worker that takes
// any missing job; so the run finishes even if nobody does. All pods mount one volume, at the same
// path as here.
type kubernetes struct {
	image, claim, mount, storage, memory, namespace string
	parallelism                                     int
}

func (e *kubernetes) Flags(f *pflag.FlagSet) {
	f.StringVar(&e.image, "image", "",
		"container image that has this program as /gpc-tune; a Dockerfile for it is written too")
	f.StringVar(&e.claim, "claim", "", "persistent volume claim; its volume holds the run folder and the data")
	f.StringVar(&e.mount, "mount", "", "path where the volume is mounted, here and in the pods")
	f.StringVar(&e.storage, "storage", "", "create the claim with this size, as in 100Gi (default: the claim exists)")
	f.StringVar(&e.memory, "mem", "", "memory of a block, as in 16Gi (default: what its jobs and the journal need)")
	f.StringVar(&e.namespace, "namespace", "", "namespace (default: that of kubectl)")
	f.IntVar(&e.parallelism, "parallelism", 0, "number of blocks that run at the same time; 0 leaves it to the cluster")
}

// Forms of an image, a name of an object, and an amount of storage.
var (
	imageName  = pattern.Of(`^[A-Za-z0-9][A-Za-z0-9._:/@-]*$`)
	objectName = pattern.Of(`^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$`)
	quantity   = pattern.Of(`^[1-9][0-9]*([KMGTP]i|[kMGTP])?$`)
)

// maxName is the maximum length of an option in bytes; names of objects have the same limit.
const maxName = 253

func (e *kubernetes) Check() error {
	for _, o := range []struct {
		flag, value, want string
		is                func() *regexp.Regexp
		needed            bool
	}{
		{"--image", e.image, "an image that the cluster can pull, as in registry.example.org/gpc-tune:1", imageName,
			true},
		{"--claim", e.claim, "the name of a persistent volume claim", objectName, true},
		{"--storage", e.storage, "an amount, as in 100Gi", quantity, false},
		{"--mem", e.memory, "an amount, as in 16Gi", quantity, false},
		{"--namespace", e.namespace, "the name of a namespace", objectName, false},
	} {
		if (!o.is().MatchString(o.value) || len(o.value) > maxName) && (o.needed || o.value != "") {
			return fmt.Errorf("%w: %s %q: say %s", ErrOptions, o.flag, o.value, o.want)
		}
	}
	if !filepath.IsAbs(e.mount) || strings.Contains(e.mount, ":") {
		return fmt.Errorf("%w: --mount %q: say the absolute path, without colons, at which the volume of --claim is "+
			"mounted", ErrOptions, e.mount)
	}
	if e.parallelism < 0 {
		return fmt.Errorf("%w: --parallelism must not be negative", ErrOptions)
	}
	return nil
}

const (
	kubernetesFolder = "kubernetes" // in the run folder
	manifestsName    = "jobs.yaml"
	dockerfileName   = "Dockerfile"

	// As in the Dockerfile of the repository.
	podProgram = "/gpc-tune"
	nobody     = 65532 // the user of the pods if root submits
)

// Submit replaces the Jobs of the run by Jobs for the missing part.
func (e *kubernetes) Submit(ctx context.Context, r *Run) (done bool, err error) {
	if err := r.lasting(); err != nil {
		return false, err
	}
	for _, path := range append(r.Files(), r.Dir) {
		if below, err := filepath.Rel(e.mount, path); err != nil || !filepath.IsLocal(below) {
			return false, fmt.Errorf("%w: --mount %s: %s is not below it, and no pod would find it; move it there",
				ErrOptions, e.mount, path)
		}
	}
	var jobs bytes.Buffer
	y := strictyaml.NewEncoder(&jobs)
	y.SetIndent(2)
	for _, o := range e.objects(r) {
		if err := y.Encode(o); err != nil {
			return false, err
		}
	}
	dockerfile := e.dockerfile(r)
	if r.DryRun {
		_, err := fmt.Fprintf(r.Out, "# %s\n%s", strings.ReplaceAll(strings.TrimSuffix(dockerfile, "\n"), "\n", "\n# "),
			&jobs)
		return false, err
	}
	files := map[string]string{manifestsName: jobs.String(), dockerfileName: dockerfile}
	if err := r.keep(kubernetesFolder, files); err != nil {
		return false, err
	}
	if dynamic(r.Program) {
		fmt.Fprintf(r.Log, "warning: %s is linked dynamically, and the image of the Dockerfile has no libraries: "+
			"build it with CGO_ENABLED=0\n", r.Program)
	}
	remove := []string{"delete", "jobs", "--ignore-not-found", "--cascade=foreground", "--timeout=90s",
		"--selector=" + instanceLabel + "=" + instance(r)}
	apply := []string{"apply", "--filename=" + filepath.Join(r.Dir, kubernetesFolder, manifestsName)}
	if e.namespace != "" {
		remove = append(remove, "--namespace="+e.namespace)
	}
	for _, args := range [][]string{remove, apply} {
		output, err := command(ctx, "", "kubectl", args...)
		if err != nil && args[0] == "delete" && strings.Contains(err.Error(), "timed out waiting") {
			return false, fmt.Errorf("%w\nsome pods of the run do not end: %s lists them. If their node is lost, "+
				"kubectl delete node NAME, and submit again", err,
				terminal.CommandLine("gpc-tune", "status", r.Dir))
		}
		if err != nil {
			return false, fmt.Errorf("%w\nwhere kubectl has a cluster that has the volume, do\n%s\n%s", err,
				terminal.CommandLine(append([]string{"kubectl"}, remove...)...),
				terminal.CommandLine(append([]string{"kubectl"}, apply...)...))
		}
		fmt.Fprint(r.Log, output)
	}
	for _, w := range r.Workload.Waves[1:] {
		fmt.Fprintf(r.Log, "job.batch/%s is suspended until the previous wave is finished; then resume it, or "+
			"repeat the command\n", instance(r)+"-"+wavePart(w))
	}
	return false, nil
}

// dockerfile returns the Dockerfile of the repository, preceded by the command that builds the
// image.
func (e *kubernetes) dockerfile(r *Run) string {
	build := terminal.CommandLine("docker", "build", "--tag", e.image, "--build-arg",
		"PROGRAM="+filepath.Base(r.Program), "--file", filepath.Join(r.Dir, kubernetesFolder, dockerfileName),
		filepath.Dir(r.Program))
	_, instructions, _ := strings.Cut(gpctune.Dockerfile, "\nFROM ")
	return "# " + strings.ReplaceAll(build, "\n", "?") + "\nFROM " + instructions
}

// dynamic reports whether a program needs a dynamic loader.
func dynamic(program string) bool {
	f, err := elf.Open(program)
	if err != nil {
		return false // an executable of another system
	}
	defer f.Close()
	return f.Section(".interp") != nil
}

// object is an object of the cluster, or a part of one, with the field names of its API.
type object = map[string]any

// Labels of the objects of a run, and of a part of it.
const (
	instanceLabel  = "app.kubernetes.io/instance"
	componentLabel = "app.kubernetes.io/component"
	instancePrefix = "gpc-tune-"
)

// instance returns the name of the run in the cluster.
func instance(r *Run) string { return instancePrefix + r.ID }

// wavePart returns the name of a wave in the cluster.
func wavePart(w run.Wave) string { return "w" + strconv.Itoa(w.Index) }

// objects returns the objects to create.
func (e *kubernetes) objects(r *Run) (all []object) {
	if e.storage != "" {
		all = append(all, object{
			"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": e.metadata(e.claim, nil),
			"spec": object{"accessModes": []string{"ReadWriteMany"},
				"resources": object{"requests": object{"storage": e.storage}}},
		})
	}
	for i, w := range r.Workload.Waves {
		// Finished blocks in between find nothing to do. The numbers are the API's limits for this
		// many pods.
		first, last := w.Blocks[0], w.Blocks[len(w.Blocks)-1]
		pods := last - first + 1
		parallelism := min(pods, 10_000)
		if e.parallelism > 0 {
			parallelism = min(parallelism, e.parallelism)
		}
		all = append(all, e.job(r, wavePart(w), object{
			"suspend": i > 0, "completionMode": "Indexed", "completions": pods, "parallelism": parallelism,
			// if a tenth of the pods fail, all probably would
			"backoffLimitPerIndex": 5, "maxFailedIndexes": min((pods+9)/10, 10_000),
		}, []object{never("FailIndex", 2, 3), disrupted}, "--blocks", strconv.Itoa(r.Blocks), "--first",
			strconv.Itoa(first)))
	}
	return append(all, e.job(r, rest, object{"backoffLimit": 5}, []object{never("FailJob", 2, 3, 4), disrupted},
		"--block", rest))
}

// never returns a rule of a pod failure policy: a worker that ends with one of these codes is not
// started again.
func never(action string, codes ...int) object {
	return object{"action": action, "onExitCodes": object{"containerName": "worker", "operator": "In", "values": codes}}
}

// disrupted is a rule of a pod failure policy: pods that the cluster itself removes are started
// again, without limit.
var disrupted = object{"action": "Ignore", "onPodConditions": []object{{"type": "DisruptionTarget", "status": "True"}}}

// metadata has the name and the labels of an object.
func (e *kubernetes) metadata(name string, labels map[string]string) object {
	m := object{"name": name}
	if labels != nil {
		m["labels"] = labels
	}
	if e.namespace != "" {
		m["namespace"] = e.namespace
	}
	return m
}

// job returns a Job of workers, with additions to its specification.
func (e *kubernetes) job(r *Run, part string, spec object, rules []object, block ...string) object {
	jobs, asked := r.memory()
	args := r.worker(jobs, block...)[1:]
	for i := range args {
		args[i] = strings.ReplaceAll(args[i], "$", "$$") // the cluster expands $(NAME)
	}
	resources := object{"cpu": r.Jobs, "memory": cmp.Or(e.memory, fmt.Sprintf("%dMi", asked))}
	user, group := os.Getuid(), os.Getgid()
	if user <= 0 {
		user, group = nobody, nobody
	}
	worker := object{
		"name": "worker", "image": e.image, "command": []string{podProgram}, "args": args,
		// Equal requests and limits make the pods the last to be evicted.
		"resources":    object{"requests": resources, "limits": resources},
		"volumeMounts": []object{{"name": "run", "mountPath": filepath.Clean(e.mount)}},
		"securityContext": object{"allowPrivilegeEscalation": false, "readOnlyRootFilesystem": true,
			"capabilities": object{"drop": []string{"ALL"}}},
	}
	if instructions := os.Getenv("GPC_TUNE_SIMD"); instructions != "" {
		worker["env"] = []object{{"name": "GPC_TUNE_SIMD", "value": instructions}}
	}
	labels := map[string]string{"app.kubernetes.io/name": "gpc-tune", instanceLabel: instance(r), componentLabel: part}
	spec["podFailurePolicy"] = object{"rules": rules}
	spec["template"] = object{
		"metadata": object{"labels": labels},
		"spec": object{
			"restartPolicy":                 "Never",
			"terminationGracePeriodSeconds": 30, // a worker has 25 s for running fits, and then some time to end
			"automountServiceAccountToken":  false,
			"nodeSelector": object{"kubernetes.io/os": runtime.GOOS,
				"kubernetes.io/arch": runtime.GOARCH},
			"securityContext": object{"runAsNonRoot": true, "runAsUser": user, "runAsGroup": group,
				"fsGroup": group, "seccompProfile": object{"type": "RuntimeDefault"}},
			"containers": []object{worker},
			"volumes": []object{{"name": "run",
				"persistentVolumeClaim": object{"claimName": e.claim}}},
		},
	}
	metadata := e.metadata(instance(r)+"-"+part, labels)
	metadata["annotations"] = object{"gpc-tune/experiment": r.Plan.Name()}
	return object{"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": spec}
}
