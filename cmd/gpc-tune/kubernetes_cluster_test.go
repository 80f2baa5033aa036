package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/gpc-tune/gpc-tune/internal/testing/golden"
	"github.com/gpc-tune/gpc-tune/internal/testing/needs"
)

var controlPlane = flag.String("controlplane", "", "the program of testdata/kubernetes/controlplane, for the tests on a Kubernetes cluster")

// kubernetesCluster is a Kubernetes cluster on this machine. Etcd, API server, controllers and
// scheduler are the real ones; kubernetesNode acts as the nodes. There are no containers: a pod is
// a process.
type kubernetesCluster struct {
	t       testing.TB
	folder  string
	server  string // address of the API
	program string // program of pods: this test, under the name of the program
	http    http.Client
	daemons map[string]*exec.Cmd
	nodes   []*kubernetesNode
	starts  map[string][]string
	held    atomic.Bool // no pod begins
}

const kubernetesToken = "test"

// startKubernetes starts a cluster with nodes of the given numbers of processors; it ends with the
// test.
func startKubernetes(t testing.TB, cpus ...int) *kubernetesCluster {
	t.Helper()
	_, err := exec.LookPath(*controlPlane)
	needs.That(t, err == nil, "a Kubernetes control plane: make test-kubernetes builds one, and runs this test with it")
	needs.Program(t, "etcd", "etcd-server")
	needs.Program(t, "kubectl", "kubernetes-client")
	// Pods run as another user, who must be able to read the program and the run: not below
	// t.TempDir, which only its owner can read.
	folder, err := os.MkdirTemp("", "kubernetes")
	if err != nil {
		t.Fatal(err)
	}
	etcd, port := freePort(t), freePort(t)
	c := &kubernetesCluster{t: t, folder: folder, server: fmt.Sprintf("https://127.0.0.1:%d", port), daemons: map[string]*exec.Cmd{}}
	c.http.Timeout = 10 * time.Second
	c.http.Transport = &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}} // the server signs its own certificate
	path := func(name string) string { return filepath.Join(folder, name) }
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	signing := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	image, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	c.program = path("gpc-tune")
	for name, text := range map[string][]byte{
		"accounts.key": signing,
		"tokens.csv":   []byte(kubernetesToken + `,test,1,"system:masters"` + "\n"),
		"config": fmt.Appendf(nil, `{"apiVersion": "v1", "kind": "Config", "current-context": "test", "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test"}}],
			"clusters": [{"name": "test", "cluster": {"server": %q, "insecure-skip-tls-verify": true}}], "users": [{"name": "test", "user": {"token": %q}}]}`, c.server, kubernetesToken),
		"gpc-tune": image,
	} {
		if err := os.WriteFile(path(name), text, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	program, err := filepath.Abs(*controlPlane)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"kube-apiserver", "kube-controller-manager", "kube-scheduler"} {
		if err := os.Symlink(program, path(name)); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("KUBECONFIG", path("config"))
	client, peer := fmt.Sprintf("http://127.0.0.1:%d", etcd), fmt.Sprintf("http://127.0.0.1:%d", etcd+1)
	c.starts = map[string][]string{
		"etcd": {"etcd", "--data-dir", path("etcd"), "--listen-client-urls", client, "--advertise-client-urls", client, "--listen-peer-urls", peer,
			"--initial-advertise-peer-urls", peer, "--initial-cluster", "default=" + peer, "--unsafe-no-fsync"},
		// A pod stays on an unreachable node for one second, not for five minutes.
		"kube-apiserver": {path("kube-apiserver"), "--etcd-servers=" + client, "--bind-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", port), "--cert-dir=" + path("certificates"),
			"--service-account-key-file=" + path("accounts.key"), "--service-account-signing-key-file=" + path("accounts.key"), "--service-account-issuer=https://test",
			"--token-auth-file=" + path("tokens.csv"), "--authorization-mode=AlwaysAllow", "--service-cluster-ip-range=10.0.0.0/24", "--disable-admission-plugins=ServiceAccount",
			"--default-not-ready-toleration-seconds=1", "--default-unreachable-toleration-seconds=1"},
		"kube-controller-manager": {path("kube-controller-manager"), "--kubeconfig=" + path("config"), "--use-service-account-credentials=false", "--leader-elect=false", "--secure-port=0",
			"--controllers=job-controller,namespace-controller,resourcequota-controller,garbage-collector-controller,pod-garbage-collector-controller," +
				"node-lifecycle-controller,taint-eviction-controller,persistentvolume-binder-controller,persistentvolumeclaim-protection-controller",
			"--node-monitor-period=1s", "--node-monitor-grace-period=10s"},
		"kube-scheduler": {path("kube-scheduler"), "--kubeconfig=" + path("config"), "--leader-elect=false", "--secure-port=0"},
	}
	t.Cleanup(c.stop)
	c.startDaemon("etcd")
	c.startAPI()
	c.startDaemon("kube-controller-manager")
	c.startDaemon("kube-scheduler")
	for i, n := range cpus {
		c.addNode(fmt.Sprintf("node-%d", i), n)
	}
	return c
}

// startDaemon starts a part of the control plane and logs to a file of its own.
func (c *kubernetesCluster) startDaemon(name string) {
	c.t.Helper()
	log, err := os.OpenFile(filepath.Join(c.folder, name+".log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o666)
	if err != nil {
		c.t.Fatal(err)
	}
	defer log.Close()
	daemon := exec.Command(c.starts[name][0], c.starts[name][1:]...)
	daemon.Dir, daemon.Stdout, daemon.Stderr = c.folder, log, log
	daemon.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := daemon.Start(); err != nil {
		c.t.Fatal(err)
	}
	c.daemons[name] = daemon
}

// startAPI starts the API server and waits until it is ready.
func (c *kubernetesCluster) startAPI() {
	c.t.Helper()
	c.startDaemon("kube-apiserver")
	until(c.t, "the API server", func() bool { return c.api(http.MethodGet, "/readyz", nil, nil) == nil })
}

// endDaemon kills a part of the control plane.
func (c *kubernetesCluster) endDaemon(name string) {
	if daemon := c.daemons[name]; daemon != nil {
		_ = daemon.Process.Kill()
		_ = daemon.Wait()
		delete(c.daemons, name)
	}
}

func (c *kubernetesCluster) stop() {
	for _, n := range c.nodes {
		n.end()
	}
	for _, name := range []string{"kube-scheduler", "kube-controller-manager", "kube-apiserver", "etcd"} {
		c.endDaemon(name)
		if c.t.Failed() {
			text, _ := os.ReadFile(filepath.Join(c.folder, name+".log"))
			c.t.Logf("%s:\n%s", name, text[max(0, len(text)-3000):])
		}
	}
	_ = os.RemoveAll(c.folder)
}

// apiError is a request that the API refused.
type apiError struct {
	code int
	text string
}

func (e *apiError) Error() string { return fmt.Sprintf("%d %s", e.code, e.text) }

// api sends a request with a JSON body and decodes the answer.
func (c *kubernetesCluster) api(method, path string, body, answer any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(context.Background(), method, c.server+path, bytes.NewReader(text))
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+kubernetesToken)
	r.Header.Set("Content-Type", "application/json")
	if method == http.MethodPatch {
		r.Header.Set("Content-Type", "application/merge-patch+json")
	}
	response, err := c.http.Do(r)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if text, err = io.ReadAll(response.Body); err != nil {
		return err
	}
	if response.StatusCode >= 300 {
		return &apiError{response.StatusCode, string(text)}
	}
	if answer == nil {
		return nil
	}
	return json.Unmarshal(text, answer)
}

// must sends a request that must succeed.
func (c *kubernetesCluster) must(method, path string, body any) {
	c.t.Helper()
	if err := c.api(method, path, body, nil); err != nil {
		c.t.Fatalf("%s %s: %v", method, path, err)
	}
}

// kubectl runs kubectl, which must succeed, and returns its output.
func (c *kubernetesCluster) kubectl(args ...string) string {
	c.t.Helper()
	out, err := exec.Command("kubectl", args...).CombinedOutput()
	if err != nil {
		c.t.Fatalf("kubectl %q: %v\n%s", args, err, out)
	}
	return string(out)
}

// pod has the fields of a pod that a node and the tests use.
type pod struct {
	Metadata struct {
		Name, Namespace, UID       string
		DeletionTimestamp          *time.Time
		DeletionGracePeriodSeconds int
		Annotations, Labels        map[string]string
	}
	Spec struct {
		NodeName        string
		SecurityContext struct{ RunAsUser, RunAsGroup uint32 }
		Containers      []struct {
			Name, Image   string
			Command, Args []string
			Env           []struct {
				Name, Value string
				ValueFrom   struct{ FieldRef struct{ FieldPath string } }
			}
		}
	}
	Status struct {
		Phase             string
		Conditions        []podCondition
		ContainerStatuses []struct {
			State struct{ Terminated *struct{ ExitCode int } }
		}
	}
}

type podCondition struct {
	Type    string `json:"type"`
	Status  string `json:"status"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

// path is the pod's path in the API.
func (p *pod) path() string {
	return "/api/v1/namespaces/" + p.Metadata.Namespace + "/pods/" + p.Metadata.Name
}

// part is the wave of the pod's Job, or rest.
func (p *pod) part() string { return p.Metadata.Labels["app.kubernetes.io/component"] }

// pods lists the pods of a namespace, or of all.
func (c *kubernetesCluster) pods(namespace, selector string) (pods []pod, err error) {
	var list struct{ Items []pod }
	path := "/api/v1/pods"
	if namespace != "" {
		path = "/api/v1/namespaces/" + namespace + "/pods"
	}
	err = c.api(http.MethodGet, path+"?"+selector, nil, &list)
	return list.Items, err
}

// kubernetesNode acts as a kubelet: it runs the pods scheduled on its node, one process each, and
// reports their status to the API.
type kubernetesNode struct {
	*kubernetesCluster
	name     string
	silent   atomic.Bool // no connection between the node and the API
	stopping chan struct{}
	stopped  chan struct{}

	mu        sync.Mutex
	processes map[string]*podProcess // processes by the UID of their pod
}

// podProcess is the container of a pod.
type podProcess struct {
	pod     pod // the pod as last seen
	command *exec.Cmd
	told    bool      // its end was reported
	asked   time.Time // when it was told to end
	evicted bool      // the node evicted it, because it is short of resources
	over    chan struct{}
}

// addNode adds a node with the given number of processors.
func (c *kubernetesCluster) addNode(name string, cpus int) *kubernetesNode {
	c.t.Helper()
	n := &kubernetesNode{kubernetesCluster: c, name: name, stopping: make(chan struct{}), stopped: make(chan struct{}), processes: map[string]*podProcess{}}
	c.must(http.MethodPost, "/api/v1/nodes", map[string]any{"apiVersion": "v1", "kind": "Node", "metadata": map[string]any{
		"name": name, "labels": map[string]string{"kubernetes.io/os": "linux", "kubernetes.io/arch": runtime.GOARCH, "kubernetes.io/hostname": name},
	}})
	capacity := map[string]any{"cpu": cpus, "memory": "64Gi", "pods": 100}
	c.must(http.MethodPatch, "/api/v1/nodes/"+name+"/status", map[string]any{"status": map[string]any{"capacity": capacity, "allocatable": capacity}})
	c.nodes = append(c.nodes, n)
	go n.run()
	return n
}

func (n *kubernetesNode) run() {
	defer close(n.stopped)
	beat := time.Time{}
	for {
		select {
		case <-n.stopping:
			return
		case <-time.After(100 * time.Millisecond):
		}
		if n.silent.Load() {
			continue
		}
		if now := time.Now(); now.Sub(beat) > time.Second {
			beat = now
			at := now.UTC().Format(time.RFC3339)
			_ = n.api(http.MethodPatch, "/api/v1/nodes/"+n.name+"/status", map[string]any{"status": map[string]any{
				"conditions": []any{map[string]any{"type": "Ready", "status": "True", "reason": "KubeletReady", "lastHeartbeatTime": at}},
			}}, nil)
		}
		pods, err := n.pods("", "fieldSelector=spec.nodeName="+n.name)
		if err != nil {
			continue // the API server may be down; it will come back
		}
		n.mu.Lock()
		for i := range pods {
			n.step(&pods[i])
		}
		n.mu.Unlock()
	}
}

// step does the next action for a pod.
func (n *kubernetesNode) step(p *pod) {
	process := n.processes[p.Metadata.UID]
	if process == nil {
		switch {
		case p.Status.Phase == "Succeeded" || p.Status.Phase == "Failed":
		case p.Metadata.DeletionTimestamp != nil: // deleted before it began
			n.tell(p, "Failed", map[string]any{"terminated": map[string]any{"exitCode": 137, "reason": "ContainerStatusUnknown"}})
			_ = n.api(http.MethodDelete, p.path(), map[string]any{"gracePeriodSeconds": 0}, nil)
		case !n.held.Load():
			n.begin(p)
		}
		return
	}
	process.pod = *p
	select {
	case <-process.over:
		code := exitOf(process.command.ProcessState)
		if !process.told {
			phase, reason := "Failed", "Error"
			if code == 0 {
				phase, reason = "Succeeded", "Completed"
			}
			var conditions []podCondition
			if process.evicted {
				conditions = append(conditions, podCondition{"DisruptionTarget", "True", "TerminationByKubelet", "The node was low on resource: memory."})
			}
			process.told = n.tell(p, phase, map[string]any{"terminated": map[string]any{"exitCode": code, "reason": reason}}, conditions...)
		}
		if process.told && p.Metadata.DeletionTimestamp != nil {
			_ = n.api(http.MethodDelete, p.path(), map[string]any{"gracePeriodSeconds": 0}, nil)
		}
		return
	default:
	}
	switch {
	case p.Metadata.DeletionTimestamp != nil && process.asked.IsZero():
		process.asked = time.Now()
		_ = process.command.Process.Signal(syscall.SIGTERM)
	case p.Metadata.DeletionTimestamp != nil && time.Since(process.asked) > time.Duration(p.Metadata.DeletionGracePeriodSeconds)*time.Second:
		_ = process.command.Process.Kill()
	}
}

// exitOf returns the exit code of a container whose process has ended.
func exitOf(s *os.ProcessState) int {
	if status, ok := s.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return s.ExitCode()
}

// begin starts the process of a pod, as the pod's user, with none of this process's environment.
func (n *kubernetesNode) begin(p *pod) {
	container := p.Spec.Containers[0]
	command := exec.Command(n.program, append(slices.Clone(container.Command[1:]), expanded(container.Args)...)...)
	command.Env = []string{"PATH=/usr/bin:/bin", "HOSTNAME=" + p.Metadata.Name}
	for _, e := range container.Env {
		value := e.Value
		for _, name := range []string{"annotations", "labels"} {
			of := map[string]map[string]string{"annotations": p.Metadata.Annotations, "labels": p.Metadata.Labels}[name]
			if key, ok := strings.CutPrefix(e.ValueFrom.FieldRef.FieldPath, "metadata."+name+"['"); ok {
				value = of[strings.TrimSuffix(key, "']")]
			}
		}
		command.Env = append(command.Env, e.Name+"="+value)
	}
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if user := p.Spec.SecurityContext; int(user.RunAsUser) != os.Geteuid() {
		command.SysProcAttr.Credential = &syscall.Credential{Uid: user.RunAsUser, Gid: user.RunAsGroup}
	}
	log, err := os.OpenFile(filepath.Join(n.folder, "pod-"+p.Metadata.Name+".log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o666)
	if err != nil {
		panic(err)
	}
	defer log.Close()
	command.Dir, command.Stdout, command.Stderr = "/", log, log
	process := &podProcess{pod: *p, command: command, over: make(chan struct{})}
	if err := command.Start(); err != nil {
		panic(err)
	}
	go func() {
		defer close(process.over)
		_ = command.Wait()
	}()
	n.processes[p.Metadata.UID] = process
	n.tell(p, "Running", map[string]any{"running": map[string]any{"startedAt": time.Now().UTC().Format(time.RFC3339)}})
}

// tell reports the state of a pod's container to the API, and returns whether that succeeded.
func (n *kubernetesNode) tell(p *pod, phase string, state map[string]any, conditions ...podCondition) bool {
	container := p.Spec.Containers[0]
	running := phase == "Running"
	status := map[string]any{"phase": phase, "containerStatuses": []any{map[string]any{
		"name": container.Name, "image": container.Image, "imageID": "test", "ready": running, "started": running, "restartCount": 0, "state": state,
	}}}
	if len(conditions) > 0 {
		status["conditions"] = conditions
	}
	err := n.api(http.MethodPatch, p.path()+"/status", map[string]any{"status": status}, nil)
	refused := (*apiError)(nil)
	return err == nil || errors.As(err, &refused) && refused.code == http.StatusNotFound
}

// fall disconnects the node. Its processes die with it, or continue if only the network fails.
func (n *kubernetesNode) fall(kill bool) (running int) {
	n.silent.Store(true)
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, p := range n.processes {
		select {
		case <-p.over:
		default:
			running++
			if kill {
				_ = p.command.Process.Kill()
			}
		}
	}
	return running
}

// end ends the node and all its processes.
func (n *kubernetesNode) end() {
	close(n.stopping)
	<-n.stopped
	for _, p := range n.processes {
		_ = p.command.Process.Kill()
		<-p.over
	}
}

// process returns the process of a pod and its node, if it is running.
func (c *kubernetesCluster) process(p *pod) (n *kubernetesNode, of *podProcess) {
	for _, n := range c.nodes {
		n.mu.Lock()
		of := n.processes[p.Metadata.UID]
		n.mu.Unlock()
		if of == nil {
			continue
		}
		select {
		case <-of.over:
			return n, nil
		default:
			return n, of
		}
	}
	return nil, nil
}

// kubernetesRun is a run in its own namespace, submitted by an ordinary user.
type kubernetesRun struct {
	*kubernetesCluster
	t                 testing.TB
	namespace         string
	dir, file, folder string
}

// newRun creates the namespace and a volume for its claim, and runs the experiment in one process;
// csv is the content of train.csv.
func (c *kubernetesCluster) newRun(t testing.TB, namespace, text, csv string) *kubernetesRun {
	t.Helper()
	r := &kubernetesRun{kubernetesCluster: c, t: t, namespace: namespace, dir: filepath.Join(c.folder, namespace), file: namespace + ".yaml"}
	r.folder = filepath.Join(r.dir, "a run's folder")
	if err := errors.Join(os.Mkdir(r.dir, 0o777), os.Chmod(r.dir, 0o777), os.WriteFile(filepath.Join(r.dir, r.file), []byte(text), 0o644),
		os.WriteFile(filepath.Join(r.dir, "train.csv"), []byte(csv), 0o644)); err != nil {
		t.Fatal(err)
	}
	c.must(http.MethodPost, "/api/v1/namespaces", map[string]any{"metadata": map[string]any{"name": namespace}})
	c.must(http.MethodPost, "/api/v1/persistentvolumes", map[string]any{"metadata": map[string]any{"name": namespace}, "spec": map[string]any{
		"capacity": map[string]any{"storage": "1Gi"}, "accessModes": []string{"ReadWriteMany"}, "hostPath": map[string]any{"path": r.dir},
		"claimRef": map[string]any{"namespace": namespace, "name": "study"},
	}})
	r.gpcTune("run", r.file, "-o", "whole")
	t.Cleanup(func() {
		if t.Failed() {
			out, _ := exec.Command("kubectl", "get", "jobs,pods", "--namespace="+namespace, "--output=wide").CombinedOutput()
			events, _ := exec.Command("kubectl", "get", "events", "--namespace="+namespace).CombinedOutput()
			t.Logf("%s\n%s", out, events)
			logs, _ := filepath.Glob(filepath.Join(c.folder, "pod-*.log"))
			for _, name := range logs {
				text, _ := os.ReadFile(name)
				t.Logf("%s: %s", filepath.Base(name), text[max(0, len(text)-300):])
			}
		}
		// The remaining pods must not share the nodes with a later test.
		c.kubectl("delete", "namespace", namespace, "--wait=false")
	})
	return r
}

// command is a call of the program by a user other than root.
func (r *kubernetesRun) command(args ...string) *exec.Cmd {
	command := exec.Command(r.program, args...)
	command.Dir, command.Env = r.dir, append(os.Environ(), "HOME="+r.dir)
	if os.Geteuid() == 0 {
		const nobody = 65534
		command.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
	return command
}

// gpcTune runs the program, which must succeed, and returns its output.
func (r *kubernetesRun) gpcTune(args ...string) string {
	r.t.Helper()
	out, err := r.command(args...).CombinedOutput()
	if err != nil {
		r.t.Fatalf("%q: %v\n%s", args, err, out)
	}
	return string(out)
}

// submitting returns the arguments that submit the run.
func (r *kubernetesRun) submitting(flags ...string) []string {
	return append([]string{"submit", "kubernetes", r.file, "-o", r.folder, "--image=gpc-tune:test", "--claim=study", "--storage=1Gi", "--mount=" + r.dir, "--namespace=" + r.namespace}, flags...)
}

func (r *kubernetesRun) submit(flags ...string) string {
	r.t.Helper()
	return r.gpcTune(r.submitting(flags...)...)
}

// refused submits a run that cannot be sent now, and returns the output.
func (r *kubernetesRun) refused(flags ...string) string {
	r.t.Helper()
	out, err := r.command(r.submitting(flags...)...).CombinedOutput()
	if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || exit.ExitCode() != exitStopped {
		r.t.Errorf("submit ends with %v, want %d: %s", err, exitStopped, out)
	}
	return string(out)
}

func (r *kubernetesRun) status() string {
	r.t.Helper()
	return r.gpcTune("status", r.folder)
}

// done counts the recorded jobs.
func (r *kubernetesRun) done() int {
	_, jobs := journalled(r.t, r.folder)
	return jobs
}

// running lists the pods with running processes, of one part of the run or of all.
func (r *kubernetesRun) running(part string) (running []pod) {
	r.t.Helper()
	pods, err := r.pods(r.namespace, "")
	if err != nil {
		r.t.Fatal(err)
	}
	for _, p := range pods {
		if _, process := r.process(&p); process != nil && (part == "" || p.part() == part) {
			running = append(running, p)
		}
	}
	return running
}

// signal sends a signal to the processes of pods and returns their number.
func (r *kubernetesRun) signal(s syscall.Signal, pods ...pod) (n int) {
	for _, p := range pods {
		if _, process := r.process(&p); process != nil && process.command.Process.Signal(s) == nil {
			n++
		}
	}
	return n
}

// jobs returns the Jobs of the namespace by part of the run.
func (r *kubernetesRun) jobs() map[string]job {
	r.t.Helper()
	var list struct{ Items []job }
	if err := r.api(http.MethodGet, "/apis/batch/v1/namespaces/"+r.namespace+"/jobs", nil, &list); err != nil {
		r.t.Fatal(err)
	}
	jobs := map[string]job{}
	for _, j := range list.Items {
		jobs[j.Metadata.Labels["app.kubernetes.io/component"]] = j
	}
	return jobs
}

// job has the fields of a Job that the tests use.
type job struct {
	Metadata struct {
		Name   string
		Labels map[string]string
	}
	Spec struct {
		Suspend     bool
		Completions int
	}
	Status struct {
		Active, Ready, Succeeded, Failed int
		FailedIndexes                    string
		Conditions                       []podCondition
	}
}

// condition reports whether the Job has a condition of this type, and its reason.
func (j job) condition(kind string) (reason string, holds bool) {
	for _, c := range j.Status.Conditions {
		if c.Type == kind && c.Status == "True" {
			return c.Reason, true
		}
	}
	return "", false
}

// over reports whether every Job of the run is complete or has failed.
func (r *kubernetesRun) over() bool {
	for _, j := range r.jobs() {
		_, complete := j.condition("Complete")
		if _, failed := j.condition("Failed"); !complete && !failed {
			return false
		}
	}
	return true
}

// ended counts the ended pods of the run by exit code, and the pods that the cluster removed by its
// reason.
func (r *kubernetesRun) ended() (codes map[int]int, disrupted map[string]int) {
	codes, disrupted = map[int]int{}, map[string]int{}
	for _, n := range r.nodes {
		n.mu.Lock()
		for _, p := range n.processes {
			if p.pod.Metadata.Namespace != r.namespace {
				continue
			}
			select {
			case <-p.over:
				codes[exitOf(p.command.ProcessState)]++
			default:
				continue
			}
			for _, c := range p.pod.Status.Conditions {
				if c.Type == "DisruptionTarget" && c.Status == "True" {
					disrupted[c.Reason]++
				}
			}
		}
		n.mu.Unlock()
	}
	return codes, disrupted
}

// report logs the counts of a finished run, and fails if its bytes differ from the bytes of a run
// in one process.
func (r *kubernetesRun) report(of int) {
	r.t.Helper()
	codes, disrupted := r.ended()
	lines, jobs := journalled(r.t, r.folder)
	r.t.Logf("pods by exit code %v, taken away %v; %d lines of %d jobs", codes, disrupted, lines, jobs)
	if jobs != of {
		r.t.Errorf("%d jobs are on record, want %d", jobs, of)
	}
	if out := r.status(); !strings.Contains(out, fmt.Sprintf("finished, %d of %[1]d known jobs done, 0 failed", of)) {
		r.t.Error(out)
	}
	golden.Equal(r.t, "results.json differs from that of one process", results(r.t, r.folder), results(r.t, filepath.Join(r.dir, "whole")))
}

// A run on a Kubernetes cluster that loses pods, nodes and the API server gives the bytes of a run
// in one process.
func TestKubernetesCluster(t *testing.T) {
	c := startKubernetes(t, 3, 3)
	t.Run("pods are killed, evicted, and the API server is", c.testKilled)
	t.Run("waves", c.testWaves)
	t.Run("a quota", c.testQuota)
	t.Run("other data", c.testOtherData)
	t.Run("nodes are lost", c.testLostNodes)
	t.Run("submitted again while a node is lost", c.testSubmittedWhileLost)
}

// longArray is longer than array, because a cluster is slow.
var longArray = strings.Replace(array, "points: 40", "points: 60", 1)

const longArrayJobs = 5 * (60 + 1)

// begin lets all pods begin at once and stops them, so that work is left for their replacements.
func (r *kubernetesRun) begin(pods int) {
	r.t.Helper()
	until(r.t, "pods", func() bool {
		pending, err := r.pods(r.namespace, "")
		return err == nil && len(pending) == pods && !slices.ContainsFunc(pending, func(p pod) bool { return p.Spec.NodeName == "" })
	})
	r.held.Store(false)
	until(r.t, "all pods", func() bool {
		running := r.running("")
		r.signal(syscall.SIGSTOP, running...)
		return len(running) == pods
	})
}

func (c *kubernetesCluster) testKilled(t *testing.T) {
	r := c.newRun(t, "killed", longArray, "")
	c.held.Store(true)
	out := r.submit("--blocks", "4")
	if strings.Count(out, "job.batch/") != 2 || strings.Count(out, " created") != 3 {
		t.Fatalf("two Jobs and a claim were to be sent: %s", out)
	}
	r.begin(5)
	if out = r.status(); !strings.Contains(out, "kubernetes: 5 blocks running, 0 in the queue\n") || !strings.Contains(out, "next: gpc-tune submit kubernetes ") {
		t.Errorf("five pods run: %s", out)
	}
	r.signal(syscall.SIGCONT, r.running("")...)
	until(t, "jobs", func() bool { return r.done() > 4 })

	// Three pods are killed. The others are stopped, so that work is left for the replacements.
	pods := r.running("")
	r.signal(syscall.SIGSTOP, pods...)
	first := r.done()
	if len(pods) != 5 {
		t.Fatalf("%d pods run with %d jobs done", len(pods), first)
	}
	killed := r.signal(syscall.SIGKILL, pods[:3]...)
	until(t, "what comes instead of killed pods", func() bool {
		running := r.running("")
		return len(running) == 5 && !slices.ContainsFunc(running, func(p pod) bool {
			return slices.ContainsFunc(pods[:3], func(k pod) bool { return k.Metadata.UID == p.Metadata.UID })
		})
	})
	r.signal(syscall.SIGCONT, r.running("")...)
	until(t, "more jobs", func() bool { return r.done() > first+4 })

	// The API server is killed, one more pod while it is down, and once it is back, three pods are
	// evicted.
	pods = r.running("")
	r.signal(syscall.SIGSTOP, pods...)
	second := r.done()
	c.endDaemon("kube-apiserver")
	killed += r.signal(syscall.SIGKILL, pods[0])
	if out = r.status(); !strings.Contains(out, "kubernetes does not say what is in its queue: ") {
		t.Errorf("nobody answers: %s", out)
	}
	if out = r.refused(); !strings.Contains(out, "kubectl delete jobs ") {
		t.Errorf("nobody answers: %s", out)
	}
	c.startAPI()
	for _, p := range pods[1:3] { // evicts as kubectl drain does
		r.must(http.MethodPost, p.path()+"/eviction", map[string]any{"apiVersion": "policy/v1", "kind": "Eviction",
			"metadata": map[string]any{"name": p.Metadata.Name, "namespace": p.Metadata.Namespace}})
	}
	n, process := r.process(&pods[3]) // evicts as a node does when memory is short
	n.mu.Lock()
	process.evicted = true
	n.mu.Unlock()
	_ = process.command.Process.Kill()
	until(t, "evicted pods to be told to end", func() bool {
		told := 0
		for _, p := range pods[1:3] {
			n, process := r.process(&p)
			n.mu.Lock()
			if process != nil && !process.asked.IsZero() {
				told++
			}
			n.mu.Unlock()
		}
		return told == 2
	})
	r.signal(syscall.SIGCONT, r.running("")...)
	until(t, "the end", r.over)
	if second >= longArrayJobs*3/4 {
		t.Errorf("%d of %d jobs were done before the API server was killed: too late to test anything", second, longArrayJobs)
	}
	jobs := r.jobs()
	t.Logf("%d pods killed and 3 evicted with %d and %d of %d jobs done; failures counted: %d and %d", killed, first, second, longArrayJobs, jobs["w0"].Status.Failed, jobs["rest"].Status.Failed)
	codes, disrupted := r.ended()
	if killed != 4 || codes[137] != killed+1 || codes[143] != 2 || disrupted["EvictionByEvictionAPI"] != 2 || disrupted["TerminationByKubelet"] != 1 {
		t.Errorf("%d pods killed, ended: %v, taken away: %v", killed, codes, disrupted)
	}
	if n := jobs["w0"].Status.Failed + jobs["rest"].Status.Failed; n != killed {
		t.Errorf("%d pods counted as failed, want those that were killed, and not those taken away", n)
	}
	for part, j := range jobs {
		if reason, complete := j.condition("Complete"); !complete {
			t.Errorf("%s: %s %+v", part, reason, j.Status)
		}
	}
	r.report(longArrayJobs)
}

// waves is nested cross-validation, in which the outer folds wait for the inner ones.
const waves = `{data: {dataset: crabs, preprocess: standardize, subsample: 60}, model: {kernel: [se, linear], likelihood: probit, inference: laplace},
	tune: {method: bfgs, restarts: 2}, evaluate: {nested: {outer: {kfold: {k: 2}}, inner: {kfold: {k: 2}}}}}`

// Suspended waves are resumed by hand, or by submitting again, which sends only what is missing.
func (c *kubernetesCluster) testWaves(t *testing.T) {
	for _, again := range []bool{false, true} {
		name := map[bool]string{false: "resumed", true: "submitted-again"}[again]
		t.Run(name, func(t *testing.T) {
			r := c.newRun(t, name, waves, "")
			c.held.Store(true)
			r.submit("--blocks", "3")
			until(t, "the pods", func() bool {
				pods, err := r.pods(r.namespace, "")
				return err == nil && len(pods) == 4
			})
			before := r.jobs()
			if !before["w1"].Spec.Suspend || before["w0"].Spec.Suspend || before["rest"].Spec.Suspend {
				t.Fatalf("the second wave and no other is to be suspended: %+v", before)
			}
			if out := r.status(); !strings.Contains(out, fmt.Sprintf("kubernetes: 0 blocks running, 4 in the queue, %d suspended\n", before["w1"].Spec.Completions)) {
				t.Error(out)
			}
			c.held.Store(false)
			until(t, "the rest", func() bool { return len(r.running("rest")) == 1 })
			rest := r.running("rest")
			r.signal(syscall.SIGSTOP, rest...) // so that it does not do all the work
			until(t, "the first wave", func() bool { _, complete := r.jobs()["w0"].condition("Complete"); return complete })
			first := r.done()
			if out := r.status(); !strings.Contains(out, fmt.Sprintf("kubernetes: 1 block running, 0 in the queue, %d suspended\n", before["w1"].Spec.Completions)) {
				t.Error(out)
			}
			if again {
				time.AfterFunc(time.Second, func() { r.signal(syscall.SIGCONT, rest...) }) // so that it can end
				out := r.submit()
				if strings.Contains(out, "-w0") && !strings.Contains(out, `-w0" deleted`) || strings.Contains(out, "suspended") {
					t.Errorf("the second wave and the rest were to be sent: %s", out)
				}
				if jobs := r.jobs(); len(jobs) != 2 || jobs["w1"].Spec.Suspend {
					t.Errorf("%+v", jobs)
				}
			} else {
				c.kubectl("patch", "job", before["w1"].Metadata.Name, "--namespace="+name, "--type", "merge", "--patch", `{"spec": {"suspend": false}}`)
				until(t, "the second wave", func() bool { _, complete := r.jobs()["w1"].condition("Complete"); return complete })
				r.signal(syscall.SIGCONT, rest...)
			}
			until(t, "the end", r.over)
			t.Logf("%d jobs in the first wave", first)
			r.report(r.known())
		})
	}
}

// known is the number of jobs in the run of one process.
func (r *kubernetesRun) known() int {
	_, jobs := journalled(r.t, filepath.Join(r.dir, "whole"))
	return jobs
}

// A quota refuses Jobs, and then pods.
func (c *kubernetesCluster) testQuota(t *testing.T) {
	r := c.newRun(t, "quota", waves, "")
	quota := func(hard map[string]any) {
		t.Helper()
		text, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "ResourceQuota", "metadata": map[string]any{"name": "few", "namespace": "quota"}, "spec": map[string]any{"hard": hard}})
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(r.dir, "quota.json")
		if err := os.WriteFile(name, text, 0o644); err != nil {
			t.Fatal(err)
		}
		c.kubectl("apply", "--filename="+name)
		until(t, "the quota", func() bool {
			var q struct{ Status struct{ Hard map[string]any } }
			err := c.api(http.MethodGet, "/api/v1/namespaces/quota/resourcequotas/few", nil, &q)
			return err == nil && fmt.Sprint(q.Status.Hard) == fmt.Sprint(hard)
		})
	}
	quota(map[string]any{"count/jobs.batch": "2"})
	c.held.Store(true)
	if out := r.refused("--blocks", "3"); !strings.Contains(out, "exceeded quota: few") {
		t.Error(out)
	}
	quota(map[string]any{"count/jobs.batch": "3", "pods": "0"})
	r.submit()
	until(t, "the quota to refuse pods", func() bool { return strings.Contains(r.status(), "exceeded quota: few") })
	if out := r.status(); !strings.Contains(out, "kubernetes: 0 blocks running, 4 in the queue, ") || strings.Count(out, " lacks pods: ") != 2 {
		t.Error(out)
	}
	quota(map[string]any{"count/jobs.batch": "3", "pods": "10", "requests.cpu": "1"})
	c.held.Store(false)
	until(t, "the first wave and the rest", func() bool {
		jobs := r.jobs()
		_, first := jobs["w0"].condition("Complete")
		_, rest := jobs["rest"].condition("Complete")
		return first && rest
	})
	r.report(r.known())
}

// Workers that find other data than the planned ones are not restarted.
func (c *kubernetesCluster) testOtherData(t *testing.T) {
	const csv = "1,1,a\n2,3,a\n3,1,b\n4,3,b\n5,2,a\n6,1,b\n7,3,a\n8,2,b\n"
	r := c.newRun(t, "other-data", `{data: {train: train.csv}, model: {kernel: [se, linear], likelihood: probit, inference: laplace}, evaluate: {kfold: {k: 2}}}`, csv)
	data := func(text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(r.dir, "train.csv"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	c.held.Store(true)
	r.submit("--blocks", "2")
	data(strings.Replace(csv, "5,2", "5,3", 1))
	c.held.Store(false)
	until(t, "the Jobs to fail", r.over)
	jobs := r.jobs()
	codes, _ := r.ended()
	if len(codes) != 1 || codes[exitInvalid] < 2 || codes[exitInvalid] > 3 { // the first failure may end the Job before another pod begins
		t.Errorf("pods ended %v, want each of them once, with %d", codes, exitInvalid)
	}
	for part, j := range jobs {
		if _, failed := j.condition("Failed"); !failed || j.Status.Succeeded > 0 {
			t.Errorf("%s: %+v", part, j.Status)
		}
	}
	if out := r.status(); strings.Count(out, " has failed: ") != 2 || !strings.Contains(out, "kubernetes: 0 blocks running, 0 in the queue\n") {
		t.Error(out)
	}
	t.Logf("pods by exit code %v", codes)
	data(csv)
	r.submit()
	until(t, "the end", r.over)
	r.report(r.known())
}

// Two nodes become unreachable. The processes of one die with it. The processes of the other
// continue together with their replacements.
func (c *kubernetesCluster) testLostNodes(t *testing.T) {
	dead, cut := c.addNode("dead", 2), c.addNode("cut", 2)
	for _, n := range c.nodes[:2] {
		c.kubectl("cordon", n.name)
	}
	r := c.newRun(t, "lost", longArray, "")
	c.held.Store(true)
	r.submit("--blocks", "3")
	r.begin(4)
	r.signal(syscall.SIGCONT, r.running("")...)
	until(t, "jobs", func() bool { return r.done() > 2 })
	pods := r.running("")
	r.signal(syscall.SIGSTOP, pods...)
	before := r.done()
	died, going := dead.fall(true), cut.fall(false)
	for _, n := range c.nodes[:2] {
		c.kubectl("uncordon", n.name)
	}
	until(t, "the cluster to take the pods away", func() bool { return strings.Count(r.status(), " is taken away: ") == 4 })
	// Replacements start only when it is certain that the old pods have ended.
	c.kubectl("delete", "node", "dead")
	c.kubectl("taint", "node", "cut", "node.kubernetes.io/out-of-service=nodeshutdown:NoExecute")
	twice := map[string]int{}
	until(t, "what comes instead", func() bool {
		clear(twice)
		running := r.running("")
		r.signal(syscall.SIGSTOP, running...)
		for _, p := range running {
			twice[p.part()+"-"+p.Metadata.Annotations["batch.kubernetes.io/job-completion-index"]]++
		}
		return len(twice) == 4
	})
	r.signal(syscall.SIGCONT, pods...) // pods on the unreachable node continue as well
	r.signal(syscall.SIGCONT, r.running("")...)
	until(t, "the end", r.over)
	t.Logf("%d pods died with their node and %d ran on beside their replacements, with %d of %d jobs done", died, going, before, longArrayJobs)
	r.report(longArrayJobs)
}

// Submitting again waits for the earlier pods to end. On a lost node they do not, and submit says
// so.
func (c *kubernetesCluster) testSubmittedWhileLost(t *testing.T) {
	lost := c.addNode("lost", 2)
	for _, n := range c.nodes[:2] {
		c.kubectl("cordon", n.name)
	}
	r := c.newRun(t, "lost-again", longArray, "")
	c.held.Store(true)
	r.submit("--blocks", "1")
	r.begin(2)
	died := lost.fall(true)
	before := r.done()
	for _, n := range c.nodes[:2] {
		c.kubectl("uncordon", n.name)
	}
	out := r.refused()
	if !strings.Contains(out, "pods of the run do not end: gpc-tune status ") || !strings.Contains(out, "kubectl delete node NAME") {
		t.Error(out)
	}
	if out = r.status(); strings.Count(out, " is taken away: ") != 2 {
		t.Error(out)
	}
	c.kubectl("delete", "node", "lost")
	until(t, "the pods to be gone", func() bool { return len(r.jobs()) == 0 })
	r.submit()
	until(t, "the end", r.over)
	t.Logf("%d pods died with their node, with %d of %d jobs done", died, before, longArrayJobs)
	r.report(longArrayJobs)
}
