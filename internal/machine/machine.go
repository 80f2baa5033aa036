// Package machine says what the computer has. Where it cannot tell, it says so: no name, no memory.
package machine

import (
	"bufio"
	"bytes"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"
	"time"
)

// root is where Linux describes itself; elsewhere nothing is found there.
var root fs.FS = os.DirFS("/")

// CPU names the processor, "" if the system does not tell.
func CPU() string { return cpu(root) }

func cpu(root fs.FS) string { return field(root, "proc/cpuinfo", "model name") }

// Available is how many bytes of memory this process could still take without pushing others out:
// what the system counts as available, or what is left of the limit of a control group. ok is false
// if neither is to be had.
func Available() (bytes int64, ok bool) { return available(root) }

func available(root fs.FS) (least int64, ok bool) {
	note := func(v int64) {
		if v = max(v, 0); !ok || v < least {
			least, ok = v, true
		}
	}
	if kilobytes, err := strconv.ParseInt(strings.TrimSuffix(field(root, "proc/meminfo", "MemAvailable"), " kB"), 10,
		64); err == nil {
		note(kilobytes << 10)
	}
	text, _ := fs.ReadFile(root, "proc/self/cgroup")
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		parts := strings.SplitN(line, ":", 3) // number, controllers, path
		if len(parts) != 3 {
			continue
		}
		base, limit, usage, cache := "sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"
		switch parts[1] {
		case "": // version 2
		case "memory":
			base, limit, usage, cache = "sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
				"total_inactive_file"
		default:
			continue
		}
		// A group is within the limits of those above it. In a container the path may be that of
		// the host, and only the root is seen.
		for group := path.Join("/", parts[2]); ; group = path.Dir(group) {
			dir := path.Join(base, group)
			most, ok1 := number(root, path.Join(dir, limit))
			used, ok2 := number(root, path.Join(dir, usage))
			if ok1 && ok2 {
				cached, _ := strconv.ParseInt(field(root, path.Join(dir, "memory.stat"), cache), 10, 64)
				note(most - used + cached)
			}
			if group == "/" {
				break
			}
		}
	}
	return least, ok
}

// number reads a file that holds one. "max" is none.
func number(root fs.FS, name string) (int64, bool) {
	text, err := fs.ReadFile(root, name)
	if err != nil {
		return 0, false
	}
	v, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	return v, err == nil
}

// field is the value of the first line of a file that starts with a name, after a colon or blanks.
func field(root fs.FS, file, name string) string {
	text, _ := fs.ReadFile(root, file)
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		if rest, ok := strings.CutPrefix(lines.Text(), name); ok && strings.TrimLeft(rest, ": \t") != rest {
			return strings.TrimLeft(rest, ": \t")
		}
	}
	return ""
}

// began is when the program did.
var began = time.Now()
