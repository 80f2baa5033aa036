package submit

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gpc-tune/gpc-tune/reports"
)

// listed has the fields of a Job or a pod that the queue needs.
type listed struct {
	Kind     string
	Metadata struct {
		Name              string
		Labels            map[string]string
		DeletionTimestamp *time.Time
	}
	Spec struct { // filled for a Job
		Suspend                  bool
		Completions, Parallelism *int
	}
	Status struct {
		Conditions []condition

		Active, Succeeded int // filled for a Job, like FailedIndexes
		FailedIndexes     string

		Phase             string // filled for a pod, like ContainerStatuses
		ContainerStatuses []struct{ State struct{ Waiting *condition } }
	}
}

type condition struct{ Type, Status, Reason, Message string }

// clusterEvent is an event of a controller about a Job.
type clusterEvent struct {
	InvolvedObject struct{ Name string }
	Message        string
	LastTimestamp  time.Time
}

// condition returns the condition of this type, if it has the status.
func (o *listed) condition(kind, status string) (c condition, found bool) {
	i := slices.IndexFunc(o.Status.Conditions, func(c condition) bool { return c.Type == kind && c.Status == status })
	if i < 0 {
		return c, false
	}
	return o.Status.Conditions[i], true
}

// Queue counts the unfinished blocks of the run's Jobs, and quotes the cluster's reasons why pods
// do not start.
func (e *kubernetes) Queue(ctx context.Context, id string) (q reports.Queue, err error) {
	var list struct{ Items []*listed }
	if err := e.get(ctx, &list, "jobs,pods", "--selector="+instanceLabel+"="+instancePrefix+id); err != nil {
		return q, err
	}
	running := map[string]int{} // number of running pods by the part of the run
	for _, o := range list.Items {
		if o.Kind == "Job" {
			continue
		}
		if o.Status.Phase == "Running" && o.Metadata.DeletionTimestamp == nil {
			running[o.Metadata.Labels[componentLabel]]++
		}
		q.Messages = append(q.Messages, o.complaints()...)
	}
	lacking := map[string]bool{} // Jobs with fewer pods than allowed
	for _, o := range list.Items {
		if o.Kind != "Job" {
			continue
		}
		if c, failed := o.condition("Failed", "True"); failed {
			q.Messages = append(q.Messages, fmt.Sprintf("job %s has failed: %s", o.Metadata.Name,
				cmp.Or(c.Message, c.Reason)))
			continue
		}
		if _, complete := o.condition("Complete", "True"); complete {
			continue
		}
		o.count(&q, running[o.Metadata.Labels[componentLabel]], lacking)
	}
	q.Messages = append(q.Messages, e.refusals(ctx, lacking)...)
	slices.Sort(q.Messages)
	q.Messages = slices.Compact(q.Messages)
	return q, nil
}

// count adds the blocks of an unfinished Job with running pods.
func (o *listed) count(q *reports.Queue, running int, lacking map[string]bool) {
	left, pods := 1, 1
	if o.Spec.Completions != nil {
		left = *o.Spec.Completions
	}
	if o.Spec.Parallelism != nil {
		pods = *o.Spec.Parallelism
	}
	left = max(left-o.Status.Succeeded-indices(o.Status.FailedIndexes), 0)
	running = min(running, left)
	q.Running += running
	if o.Spec.Suspend {
		q.Suspended += left - running
		return
	}
	q.Pending += left - running
	if o.Status.Active < min(left, pods) {
		lacking[o.Metadata.Name] = true
	}
}

// complaints returns the reasons why the pod has not started or is being removed.
func (o *listed) complaints() (all []string) {
	say := func(what string, c condition) {
		all = append(all, fmt.Sprintf("pod %s %s: %s", o.Metadata.Name, what, cmp.Or(c.Message, c.Reason)))
	}
	if o.Status.Phase == "Succeeded" || o.Status.Phase == "Failed" {
		return nil
	}
	if c, taken := o.condition("DisruptionTarget", "True"); taken {
		say("is taken away", c)
	}
	if c, waits := o.condition("PodScheduled", "False"); waits {
		say("has no node", c)
	}
	for _, s := range o.Status.ContainerStatuses {
		if w := s.State.Waiting; w != nil && w.Reason != "ContainerCreating" && w.Reason != "PodInitializing" {
			say("does not start", condition{Message: strings.TrimSuffix(w.Reason+": "+w.Message, ": ")})
		}
	}
	return all
}

// refusals returns the cluster's last reasons for not making pods for these Jobs, such as an
// exhausted quota. Without permission to read events there are none.
func (e *kubernetes) refusals(ctx context.Context, lacking map[string]bool) (all []string) {
	var events struct{ Items []clusterEvent }
	if len(lacking) == 0 || e.get(ctx, &events, "events",
		"--field-selector=involvedObject.kind=Job,reason=FailedCreate") != nil {
		return nil
	}
	last := map[string]clusterEvent{}
	for _, event := range events.Items {
		if name := event.InvolvedObject.Name; lacking[name] && !event.LastTimestamp.Before(last[name].LastTimestamp) {
			last[name] = event
		}
	}
	for name, event := range last {
		all = append(all, fmt.Sprintf("job %s lacks pods: %s", name, event.Message))
	}
	return all
}

// get lists objects of the run's namespace with kubectl, with a short timeout.
func (e *kubernetes) get(ctx context.Context, list any, args ...string) error {
	args = append([]string{"get"}, append(args, "--output=json", "--request-timeout=15s")...)
	if e.namespace != "" {
		args = append(args, "--namespace="+e.namespace)
	}
	out, err := command(ctx, "", "kubectl", args...)
	if err != nil {
		return err
	}
	if err := json.Unmarshal([]byte(out), list); err != nil {
		return fmt.Errorf("%w: kubectl get: %w", ErrEngine, err)
	}
	return nil
}

// indices counts the numbers of a list like 1,3-5,7.
func indices(list string) (n int) {
	for part := range strings.SplitSeq(list, ",") {
		first, last, isRange := strings.Cut(part, "-")
		a, err := strconv.Atoi(first)
		if err != nil {
			continue // an empty list
		}
		b := a
		if isRange {
			b, _ = strconv.Atoi(last)
		}
		n += b - a + 1
	}
	return n
}
