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

// clusterJob is what of a Job the queue needs.
type clusterJob struct {
	Metadata clusterMetadata
	Spec     struct {
		Suspend     bool
		Completions *int
		Parallelism *int
	}
	Status struct {
		Active, Succeeded int
		FailedIndexes     string
		Conditions        []clusterCondition
	}
}

// clusterPod is what of a pod the queue needs.
type clusterPod struct {
	Metadata clusterMetadata
	Status   struct {
		Phase             string
		Conditions        []clusterCondition
		ContainerStatuses []struct {
			State struct{ Waiting *clusterCondition }
		}
	}
}

// clusterEvent is what a controller says of a Job.
type clusterEvent struct {
	InvolvedObject struct{ Name string }
	Message        string
	LastTimestamp  time.Time
}

type clusterMetadata struct {
	Name              string
	Labels            map[string]string
	DeletionTimestamp *time.Time
}

type clusterCondition struct{ Type, Status, Reason, Message string }

// met is the condition of a type, if it holds.
func met(all []clusterCondition, kind string) (c clusterCondition, holds bool) {
	i := slices.IndexFunc(all, func(c clusterCondition) bool { return c.Type == kind && c.Status == "True" })
	if i < 0 {
		return c, false
	}
	return all[i], true
}

// Queue counts the blocks of the run's Jobs that are not over, and says why pods do not start, as
// the cluster tells it.
func (e *Kubernetes) Queue(ctx context.Context, id string) (q reports.Queue, err error) {
	var list struct{ Items []json.RawMessage }
	if err := e.get(ctx, &list, "jobs,pods", "--selector="+instanceLabel+"="+instancePrefix+id); err != nil {
		return q, err
	}
	var jobs []clusterJob
	running := map[string]int{} // pods, by the part of the run
	for _, text := range list.Items {
		var kind struct{ Kind string }
		if err := json.Unmarshal(text, &kind); err != nil {
			return q, fmt.Errorf("%w: kubectl lists %q: %w", ErrEngine, text, err)
		}
		if kind.Kind == "Job" {
			var j clusterJob
			if err := json.Unmarshal(text, &j); err != nil {
				return q, fmt.Errorf("%w: kubectl lists %q: %w", ErrEngine, text, err)
			}
			jobs = append(jobs, j)
			continue
		}
		var p clusterPod
		if err := json.Unmarshal(text, &p); err != nil {
			return q, fmt.Errorf("%w: kubectl lists %q: %w", ErrEngine, text, err)
		}
		if p.Status.Phase == "Running" && p.Metadata.DeletionTimestamp == nil {
			running[p.Metadata.Labels[componentLabel]]++
		}
		q.Messages = append(q.Messages, p.complaints()...)
	}
	lacking := map[string]bool{} // Jobs that have fewer pods than they may
	for _, j := range jobs {
		if c, failed := met(j.Status.Conditions, "Failed"); failed {
			q.Messages = append(q.Messages, fmt.Sprintf("job %s has failed: %s", j.Metadata.Name,
				cmp.Or(c.Message, c.Reason)))
			continue
		}
		if _, complete := met(j.Status.Conditions, "Complete"); complete {
			continue
		}
		left, pods := 1, 1
		if j.Spec.Completions != nil {
			left = *j.Spec.Completions
		}
		if j.Spec.Parallelism != nil {
			pods = *j.Spec.Parallelism
		}
		left = max(left-j.Status.Succeeded-indices(j.Status.FailedIndexes), 0)
		now := min(running[j.Metadata.Labels[componentLabel]], left)
		q.Running += now
		if j.Spec.Suspend {
			q.Suspended += left - now
			continue
		}
		q.Pending += left - now
		if j.Status.Active < min(left, pods) {
			lacking[j.Metadata.Name] = true
		}
	}
	q.Messages = append(q.Messages, e.refusals(ctx, lacking)...)
	slices.Sort(q.Messages)
	q.Messages = slices.Compact(q.Messages)
	return q, nil
}

// complaints say why the pod has not started, or why it is taken away.
func (p *clusterPod) complaints() (all []string) {
	say := func(what string, c clusterCondition) {
		all = append(all, fmt.Sprintf("pod %s %s: %s", p.Metadata.Name, what, cmp.Or(c.Message, c.Reason)))
	}
	if p.Status.Phase == "Succeeded" || p.Status.Phase == "Failed" {
		return nil
	}
	if c, taken := met(p.Status.Conditions, "DisruptionTarget"); taken {
		say("is taken away", c)
	}
	if i := slices.IndexFunc(p.Status.Conditions,
		func(c clusterCondition) bool { return c.Type == "PodScheduled" && c.Status == "False" }); i >= 0 {
		say("has no node", p.Status.Conditions[i])
	}
	for _, s := range p.Status.ContainerStatuses {
		if w := s.State.Waiting; w != nil && w.Reason != "ContainerCreating" && w.Reason != "PodInitializing" {
			say("does not start", clusterCondition{Message: strings.TrimSuffix(w.Reason+": "+w.Message, ": ")})
		}
	}
	return all
}

// refusals are the last that the cluster has said of pods that it does not make for these Jobs, as
// where a quota is used up. Who may not read events learns nothing.
func (e *Kubernetes) refusals(ctx context.Context, lacking map[string]bool) (all []string) {
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

// get has kubectl list objects of the run's namespace, without waiting long for a cluster that does
// not answer.
func (e *Kubernetes) get(ctx context.Context, list any, args ...string) error {
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

// indices counts those of a list as 1,3-5,7.
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
