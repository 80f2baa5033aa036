package machine

import (
	"bufio"
	"os/exec"
	"strings"
	"testing"
)

// EndOrphans kills a process with the assignment whose parent has ended. A child of this process, a
// process without a parent, and one with another assignment go on.
func TestEndOrphans(t *testing.T) {
	assignment, host := "GPC_TUNE_TEST="+t.TempDir(), strings.Fields(Process())[0]
	ended := orphanName + host + "|2147483646|7"
	all := []struct {
		environment []string
		killed      bool
	}{{[]string{assignment, ended}, true}, {[]string{assignment, Parent()}, false}, {[]string{assignment}, false},
		{[]string{ended}, false}}
	var end []func() error
	for _, of := range all {
		c := exec.Command("cat")
		c.Env = of.environment
		in, err := c.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		end = append(end, func() error { in.Close(); return c.Wait() })
		in.Write([]byte("\n"))
		if _, err := bufio.NewReader(out).ReadString('\n'); err != nil { // now it has its environment
			t.Fatal(err)
		}
	}
	EndOrphans(assignment)
	for k, of := range all {
		if err := end[k](); (err != nil) != of.killed {
			t.Errorf("%v: %v, want killed: %t", of.environment, err, of.killed)
		}
	}
}
