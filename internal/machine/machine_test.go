package machine

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

func TestAvailable(t *testing.T) {
	const meminfo = "MemTotal:       24000000 kB\nMemFree:         1000000 kB\nMemAvailable:    2000000 kB\n"
	for _, c := range []struct {
		name  string
		files map[string]string
		want  int64
		ok    bool
	}{
		{"elsewhere", nil, 0, false},
		{"no group", map[string]string{"proc/meminfo": meminfo}, 2000000 << 10, true},
		{"not a number", map[string]string{"proc/meminfo": "MemAvailable: much\n"}, 0, false},
		{"version 2, the group", map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "0::/user/job\n",
			"sys/fs/cgroup/user/job/memory.max": "1000000000\n", "sys/fs/cgroup/user/job/memory.current": "700000000\n",
			"sys/fs/cgroup/user/job/memory.stat": "anon 600000000\ninactive_file 100000000\n",
		}, 400000000, true},
		{"version 2, a group with a colon", map[string]string{
			"proc/self/cgroup": "0::/a:b\n", "sys/fs/cgroup/a:b/memory.max": "9000\n",
			"sys/fs/cgroup/a:b/memory.current": "2000\n",
		}, 7000, true},
		{"version 2, a group above", map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "0::/user/job\n",
			"sys/fs/cgroup/user/job/memory.max": "max\n", "sys/fs/cgroup/user/job/memory.current": "700000000\n",
			"sys/fs/cgroup/user/memory.max": "900000000\n", "sys/fs/cgroup/user/memory.current": "750000000\n",
		}, 150000000, true},
		{"version 2, in a container", map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "0::/host/path\n",
			"sys/fs/cgroup/memory.max": "500000000\n", "sys/fs/cgroup/memory.current": "100000000\n",
		}, 400000000, true},
		{"version 1", map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "5:cpu,cpuacct:/a\n4:memory:/docker/abc\n0::/\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes": "300000000\n", "sys/fs/cgroup/memory/memory.usage_in_bytes": "100000000\n",
			"sys/fs/cgroup/memory/memory.stat": "total_inactive_file 1000\n",
		}, 200001000, true},
		{"no limit but the machine's", map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "4:memory:/\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n", "sys/fs/cgroup/memory/memory.usage_in_bytes": "1\n",
		}, 2000000 << 10, true},
		{"a limit on the address space, of which 5000 bytes are idle", map[string]string{
			"proc/meminfo":     meminfo,
			"proc/self/limits": "Limit                     Soft Limit           Hard Limit           Units     \nMax address space         600000000            unlimited            bytes     \n",
			"proc/self/status": "Name:\tgo\nVmPeak:\t  200000 kB\nVmSize:\t  100000 kB\n",
		}, 600000000 - 100000<<10 + 5000 - 256<<20, true},
		{"no limit on the address space", map[string]string{
			"proc/meminfo": meminfo, "proc/self/status": "VmSize:\t  100000 kB\n",
			"proc/self/limits": "Max address space         unlimited            unlimited            bytes     \n",
		}, 2000000 << 10, true},
		{"over the limit", map[string]string{
			"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "5\n", "sys/fs/cgroup/memory.current": "9\n",
		}, 0, true},
	} {
		files := fstest.MapFS{}
		for name, text := range c.files {
			files[name] = &fstest.MapFile{Data: []byte(text)}
		}
		if got, ok := available(files, 5000); got != c.want || ok != c.ok {
			t.Errorf("%s: %d, %v, want %d, %v", c.name, got, ok, c.want, c.ok)
		}
	}
}

// left holds memory until it is idle.
var left []byte

// Under a limit on the address space, memory that the collector has freed is available again.
func TestIdleMemoryIsAvailable(t *testing.T) {
	left = make([]byte, 64<<20)
	left = nil
	runtime.GC()
	const limit = 1 << 40
	before := root
	defer func() { root = before }()
	root = fstest.MapFS{
		"proc/self/limits": {Data: fmt.Appendf(nil, "Max address space  %d  unlimited  bytes\n", limit)},
		"proc/self/status": {Data: []byte("VmSize:\t  100000 kB\n")},
	}
	if got, ok := Available(); !ok || got < limit-100000<<10-threads+32<<20 {
		t.Errorf("%d, %v", got, ok)
	}
}

func TestAdmit(t *testing.T) {
	if err := Admit(5<<20, 5<<20); err != nil {
		t.Error(err)
	}
	if err := Admit(6<<20, 5<<20); !errors.Is(err, ErrMemory) || err.Error() != "not enough memory: 6.0 MiB are needed, and the limit is 5.0 MiB" {
		t.Error(err)
	}
	if _, known := Available(); known {
		if err := Admit(1<<60, 0); !errors.Is(err, ErrMemory) || !strings.HasSuffix(err.Error(), "are free") {
			t.Error(err)
		}
	}
	if err := Admit(1<<20, 0); err != nil {
		t.Error(err)
	}
}

// If the free memory does not suffice, memory that the process no longer uses is released once.
// Then the free memory counts.
func TestReleaseBeforeRefusal(t *testing.T) {
	for _, c := range []struct {
		bytes, limit, free, left int64 // left behind
		known                    bool
		released                 int
		want                     string
	}{
		{bytes: 5, free: 5, left: 9, known: true},
		{bytes: 6, free: 5, left: 1, known: true, released: 1},
		{bytes: 7, free: 5, left: 1, known: true, released: 1, want: "not enough memory: 7 B are needed, and 6 B are free"},
		{bytes: 7, free: 5, left: 9},
		{bytes: 7, limit: 7, free: 5, left: 9, known: true},
		{bytes: 8, limit: 7, free: 9, left: 9, known: true, want: "not enough memory: 8 B are needed, and the limit is 7 B"},
	} {
		free, released := c.free, 0
		err := admit(c.bytes, c.limit, func() (int64, bool) { return free, c.known }, func() { released++; free += c.left })
		if released != c.released || (err == nil) != (c.want == "") || err != nil && err.Error() != c.want {
			t.Errorf("%+v: released %d times, error %v", c, released, err)
		}
	}
}

// The footprint is the sum of the bytes in use, the garbage that the collector may leave, and 8
// MiB.
func TestFootprint(t *testing.T) {
	for _, c := range []struct {
		bytes, want int64
		percent     int
	}{{0, 8 << 20, 100}, {1000, 8<<20 + 1250, Slack}, {1000, 8<<20 + 2000, 100}, {1 << 40, 8<<20 + 1<<40, 0}} {
		if got := Footprint(c.bytes, c.percent); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
	before := debug.SetGCPercent(40)
	if got := Percent(); got != 40 {
		t.Errorf("%d %%, want 40", got)
	}
	debug.SetGCPercent(300)
	if got := Percent(); got != 100 {
		t.Errorf("%d %%, want 100", got)
	}
	debug.SetGCPercent(before)
}

// Sleeping takes no processor time, and work does.
func TestProcessorTime(t *testing.T) {
	if s := Seconds(func() { time.Sleep(60 * time.Millisecond) }); s > 0.03 {
		t.Errorf("a sleep of 60 ms takes %v s", s)
	}
	busy := func(d time.Duration) {
		for began := ProcessTime(); ProcessTime()-began < d; {
		}
	}
	spin := func() { busy(20 * time.Millisecond) }
	if s := Seconds(spin); !(s >= 0.02 && s < 1) {
		t.Errorf("work of 20 ms takes %v s", s)
	}
	// the least of three calls counts, here the second
	calls := 0
	if s := Seconds(func() {
		if calls++; calls != 2 {
			spin()
		}
	}); calls != 3 || s >= 0.02 {
		t.Errorf("%d calls, %v s", calls, s)
	}
	// a long call is the only one
	calls = 0
	if s := Seconds(func() { calls++; busy(110 * time.Millisecond) }); calls != 1 || s < 0.11 {
		t.Errorf("%d calls, %v s", calls, s)
	}
}

// A name is followed by a colon or blanks: others begin like it.
func TestField(t *testing.T) {
	files := fstest.MapFS{"f": {Data: []byte("ab 1\nabc:2\nabd\n ab 3\na:\t4 5\na 6\n")}}
	for name, want := range map[string]string{"a": "4 5", "ab": "1", "abc": "2", "abd": "", "b": "", "": "ab 3"} {
		if got := field(files, "f", name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

func TestCPU(t *testing.T) {
	files := fstest.MapFS{"proc/cpuinfo": {Data: []byte("processor\t: 0\nmodel\t\t: 33\nmodel name\t: A Processor 9000\n")}}
	if got := cpu(files); got != "A Processor 9000" {
		t.Errorf("%q", got)
	}
	if got := cpu(fstest.MapFS{}); got != "" {
		t.Errorf("elsewhere: %q", got)
	}
}
