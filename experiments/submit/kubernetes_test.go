package submit

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/experiments/run"
)

// The image contains the program at the path that the pods start, and runs as an ordinary user.
func TestDockerfile(t *testing.T) {
	e := &kubernetes{image: "example.org/gpc-tune:1"}
	text := e.dockerfile(&Run{LaidOut: &run.LaidOut{}, Program: "/opt/my programs/gpc-tune-1"})
	for _, line := range []string{
		"# docker build --tag example.org/gpc-tune:1 --build-arg PROGRAM=gpc-tune-1 --file kubernetes/Dockerfile " +
			"'/opt/my programs'",
		"FROM scratch",
		fmt.Sprintf(`COPY ["${PROGRAM}", %q]`, podProgram),
		fmt.Sprintf("USER %d:%[1]d", nobody),
		fmt.Sprintf("ENTRYPOINT [%q]", podProgram),
	} {
		if !strings.Contains("\n"+text, "\n"+line+"\n") {
			t.Errorf("no line %s in\n%s", line, text)
		}
	}
}
