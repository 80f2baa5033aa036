package machine

import (
	"os"
	"strconv"
	"strings"
	"sync"
)

// place names the start of the kernel and the namespaces of process numbers and of time. Containers
// may have namespaces of their own. Equal numbers belong to one process only within one place. It
// is "" if these cannot be read.
var place = sync.OnceValue(func() string {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	pids, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return ""
	}
	times, _ := os.Readlink("/proc/self/ns/time") // kernels before 5.6 have none
	return strings.Join(strings.Fields(string(boot)+"/"+pids+"/"+times), "")
})

// ours reports whether /proc shows the processes with the numbers that this process sees.
var ours = sync.OnceValue(func() bool {
	self, err := os.Readlink("/proc/self")
	return err == nil && self == strconv.Itoa(os.Getpid())
})

// started is the start time of a process, in ticks since the start of the kernel; "": it is not
// known. It is "ended" for a process that has ended and whose parent has not waited for it.
func started(pid string) string {
	if pid != "self" && !ours() {
		return ""
	}
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return ""
	}
	// behind the name, which may have spaces and brackets: the state, and 19 fields on the start
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	switch {
	case len(fields) < 20:
		return ""
	case fields[0] == "Z" || fields[0] == "X":
		return "ended"
	}
	return fields[19]
}
