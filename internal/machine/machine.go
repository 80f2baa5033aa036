// Package machine describes the computer. Unknown values are empty: no name, no memory.
package machine

import (
	"bufio"
	"bytes"
	"io/fs"
	"os"
	"path"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// root is the file system in which Linux describes itself; elsewhere it has no such files.
var root fs.FS = os.DirFS("/")

// CPU is the name of the processor, "" if unknown.
func CPU() string { return cpu(root) }

func cpu(root fs.FS) string { return field(root, "proc/cpuinfo", "model name") }

// Available is the number of bytes of memory that this process could still use without displacing
// others. It is the least of the memory that the system counts as available and the rest of the
// limits of control groups and of the process (ulimit -v). ok is false if none is known.
func Available() (bytes int64, ok bool) {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return available(root, int64(m.HeapIdle))
}

// threads is the address space that future threads may take from a limit: in a program with C
// libraries, a thread that starts reserves a stack and an arena for malloc, 136 MiB for a moment.
const threads = 256 << 20

// available is Available, given the number of idle bytes that this process has reserved.
func available(root fs.FS, idle int64) (least int64, ok bool) {
	note := func(v int64) {
		if v = max(v, 0); !ok || v < least {
			least, ok = v, true
		}
	}
	if free, ok := size(root, "proc/meminfo", "MemAvailable"); ok {
		note(free)
	}
	limit, _, _ := strings.Cut(field(root, "proc/self/limits", "Max address space"), " ")
	most, err := strconv.ParseInt(limit, 10, 64)
	if used, ok := size(root, "proc/self/status", "VmSize"); ok && err == nil {
		note(most - used + idle - threads)
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
		// A group is subject to the limits of all groups above it. In a container the path may be a
		// path of the host, and only the root is visible.
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

// size is the value in bytes of a line in kilobytes.
func size(root fs.FS, file, name string) (bytes int64, ok bool) {
	kilobytes, err := strconv.ParseInt(strings.TrimSuffix(field(root, file, name), " kB"), 10, 64)
	return kilobytes << 10, err == nil
}

// number reads a file with one number; "max" means none.
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

// began is the start time of the program.
var began = time.Now()
