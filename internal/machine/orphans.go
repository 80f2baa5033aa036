package machine

import "strings"

// orphanName is the variable of the environment by which EndOrphans finds the parent of a process.
const orphanName = "GPC_TUNE_PARENT="

// Parent is the assignment that a child needs in its environment, and its children inherit, so that
// EndOrphans can end them after the death of this process.
func Parent() string { return orphanName + strings.ReplaceAll(Process(), " ", "|") }

// EndOrphans kills the processes with this assignment in their environment whose Parent has ended.
func EndOrphans(assignment string) {
	for pid, environment := range environments() {
		if !strings.Contains(environment, assignment) {
			continue
		}
		_, rest, has := strings.Cut(environment, orphanName)
		parent, _, _ := strings.Cut(rest, "\x00")
		if parent, _, _ = strings.Cut(parent, " "); has && Ended(strings.ReplaceAll(parent, "|", " ")) {
			kill(pid)
		}
	}
}
