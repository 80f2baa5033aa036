package journal

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gpc-tune/gpc-tune/internal/machine"
	"github.com/gpc-tune/gpc-tune/internal/testing/exhaustive"
	"github.com/gpc-tune/gpc-tune/internal/testing/needs"
)

// process is the identity of this process with another place, number or start.
func process(part int, text string) string {
	fields := strings.Fields(machine.Process())
	fields[part] = text
	return strings.Join(fields, " ")
}

// none is above the largest number of a process.
const none = "2147483646"

// The lease of a process on another machine stands as long as its sign of life changes, whatever
// the clocks say, and is removed a minute after the last change. The same holds for a process in a
// container with the same name. Its number may be the number of another process here, of this one,
// or of none.
func TestLeaseOfAnotherMachine(t *testing.T) {
	needs.That(t, machine.Process() != "", "a system that says which process this is: run it on Linux")
	self := strconv.Itoa(os.Getpid())
	for name, process := range map[string]string{"elsewhere-7-0": process(0, "elsewhere"), "old-7-0": "",
		hostname() + "-" + none + "-0":        strings.Replace(process(0, "elsewhere"), " "+self+" ", " "+none+" ", 1),
		hostname() + "-" + self + "-9":        process(0, "elsewhere"),
		hostname() + "-1-0":                   strings.Replace(process(0, "elsewhere"), " "+self+" ", " 1 ", 1),
		hostname() + "-" + self + "-8":        process(1, self), // this one, of another folder
		hostname() + "-0" + self + "-unknown": ""} {
		t.Run(name, func(t *testing.T) { leaseOfAnother(t, name, process) })
	}
}

func leaseOfAnother(t *testing.T, holder, process string) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		j, err := Open(dir, Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer j.Close()
		claim := func(key string, want bool) {
			t.Helper()
			if ours, err := j.Claim(key); ours != want || err != nil {
				t.Errorf("claim of %q: %v, %v", key, ours, err)
			}
		}
		claim("mine", true)
		claim("mine", true)
		folder := filepath.Join(dir, "journal", "leases")
		sign := filepath.Join(folder, holder+".alive")
		for name, text := range map[string]string{filepath.Join(folder, "theirs"): holder + "\n" + process, sign: holder + "\n" + process} {
			if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		for beats := range 3 {
			skewed := time.Unix(int64(beats), 0)
			if err := os.Chtimes(sign, skewed, skewed); err != nil {
				t.Fatal(err)
			}
			claim("theirs", false)
			time.Sleep(silent - time.Second)
			claim("theirs", false)
		}
		time.Sleep(time.Second)
		claim("theirs", true)
		if !j.Holds("theirs") || !j.Holds("mine") {
			t.Error("a lease is lost")
		}
		j.Release("mine")
		if _, err := os.Stat(filepath.Join(folder, "mine")); err == nil {
			t.Error("a lease is not released")
		}
		j.ReleaseAll()
	})
}

// The lease of a process of this machine ends at once if the process does not exist, and its files
// are removed at the end. The same holds if another process has its number now.
func TestLeaseOfADeadProcess(t *testing.T) {
	needs.That(t, machine.Process() != "", "a system that says which process this is: run it on Linux")
	ended := []string{process(1, none)}
	if runtime.GOOS == "linux" {
		ended = append(ended, process(2, "1"))
	}
	for _, process := range ended {
		j, folder := claimed(t)
		dead := hostname() + "-" + none + "-0"
		text := dead + "\n" + process
		for _, name := range []string{"theirs", "another", dead + ".alive"} {
			if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		if n := j.Elsewhere(); n != 0 {
			t.Errorf("%d leases of others", n)
		}
		if ours, err := j.Claim("theirs"); !ours || err != nil {
			t.Error(ours, err)
		}
		j.ReleaseAll()
		if left, err := os.ReadDir(folder); err == nil {
			t.Errorf("%v are left", left)
		}
	}
}

// A process that ends removes the folder of leases when it is empty, while another one begins.
func TestLeasesBeginWhileOthersEnd(t *testing.T) {
	dir := t.TempDir()
	var group sync.WaitGroup
	for _, key := range []string{"one", "other", "third"} {
		j, err := Open(dir, Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer j.Close()
		group.Go(func() {
			for range exhaustive.Of(500, 2000) {
				if ours, err := j.Claim(key); !ours || err != nil {
					t.Errorf("claim: %v, %v", ours, err)
					return
				}
				j.ReleaseAll()
			}
		})
	}
	group.Wait()
}

// A lease names its holder from the first moment on: a process that is killed leaves none without.
func TestLeaseNamesItsHolderAtOnce(t *testing.T) {
	_, folder := claimed(t)
	lease, err := os.Stat(filepath.Join(folder, "mine"))
	if err != nil {
		t.Fatal(err)
	}
	signs, err := filepath.Glob(filepath.Join(folder, "*.alive"))
	if err != nil || len(signs) != 1 {
		t.Fatal(signs, err)
	}
	sign, err := os.Stat(signs[0])
	if err != nil || !os.SameFile(sign, lease) {
		t.Errorf("the lease is not a link to the sign of life: %v", err)
	}
	text, err := os.ReadFile(filepath.Join(folder, "mine"))
	if name, process, _ := strings.Cut(string(text), "\n"); name+".alive" != filepath.Base(signs[0]) || process != machine.Process() {
		t.Errorf("the lease of %s names %q: %v", signs[0], text, err)
	}
}

// claimed is a journal whose process has a lease, and the folder of leases.
func claimed(t *testing.T) (j *Journal, folder string) {
	t.Helper()
	dir := t.TempDir()
	j, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	if ours, err := j.Claim("mine"); !ours || err != nil {
		t.Fatal(ours, err)
	}
	return j, filepath.Join(dir, "journal", "leases")
}

// A process shows every five seconds that it is alive.
func TestSignOfLife(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, folder := claimed(t)
		defer j.ReleaseAll()
		signs, err := filepath.Glob(filepath.Join(folder, "*.alive"))
		if err != nil || len(signs) != 1 {
			t.Fatal(signs, err)
		}
		for range 2 {
			time.Sleep(beat)
			synctest.Wait()
			if info, err := os.Stat(signs[0]); err != nil || !info.ModTime().Equal(time.Now()) {
				t.Errorf("the sign is of %v, and now is %v: %v", info.ModTime(), time.Now(), err)
			}
		}
	})
}

// A lease that another process has taken away is not held any more, and stays that process's after
// a release and at the end.
func TestLeaseThatWasTakenAway(t *testing.T) {
	j, folder := claimed(t)
	lease, theirs := filepath.Join(folder, "mine"), filepath.Join(folder, "theirs")
	if !j.Holds("mine") || j.Holds("theirs") {
		t.Error("what is held is not, or what is not is")
	}
	replace := func(name string) {
		t.Helper()
		if err := os.Remove(name); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte("elsewhere-7-0"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	replace(lease)
	replace(theirs)
	if j.Holds("mine") {
		t.Error("a lease is held that another process has")
	}
	j.Release("mine")
	j.Release("theirs")
	j.ReleaseAll()
	for _, name := range []string{lease, theirs} {
		if text, err := os.ReadFile(name); string(text) != "elsewhere-7-0" {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
}

// A process that has reserved a job is at work until it releases all. One without a sign of life for
// a minute is not.
func TestRunning(t *testing.T) {
	j, folder := claimed(t)
	dir := filepath.Dir(filepath.Dir(folder))
	other := filepath.Join(folder, "elsewhere-1-0.alive")
	for _, c := range []struct {
		silent time.Duration
		want   int
	}{{0, 2}, {2 * time.Minute, 1}} {
		if err := os.WriteFile(other, []byte("elsewhere-1-0"), 0o666); err != nil {
			t.Fatal(err)
		}
		if at := time.Now().Add(-c.silent); os.Chtimes(other, at, at) != nil {
			t.Fatal("no time of a file can be set")
		}
		if n := Running(dir); n != c.want {
			t.Errorf("silent for %v: %d processes, want %d", c.silent, n, c.want)
		}
	}
	j.ReleaseAll()
	if n := Running(dir); n != 0 {
		t.Errorf("%d processes after all is released", n)
	}
}

// A job that was released can be reserved again, by a lease of its own.
func TestReleasedIsClaimedAgain(t *testing.T) {
	j, folder := claimed(t)
	defer j.ReleaseAll()
	j.Release("mine")
	if j.Holds("mine") {
		t.Error("it is held after its release")
	}
	if ours, err := j.Claim("mine"); !ours || err != nil || !j.Holds("mine") {
		t.Error(ours, err)
	}
	// Where no link can be made, the lease is a file with the name of its holder.
	holder := j.leases.holder
	if err := os.Remove(j.leases.sign(holder)); err != nil {
		t.Fatal(err)
	}
	if ours, err := j.Claim("other"); !ours || err != nil {
		t.Error(ours, err)
	}
	if text, err := os.ReadFile(filepath.Join(folder, "other")); string(text) != holder || !j.Holds("other") {
		t.Errorf("%q, %v", text, err)
	}
}

// A lease that another process has made since the dead one's was read is put back.
func TestTakingAwayTooLate(t *testing.T) {
	j, folder := claimed(t)
	defer j.ReleaseAll()
	path := filepath.Join(folder, "theirs")
	for now, stays := range map[string]bool{"dead-7-0": false, "alive-8-0": true} {
		if err := os.WriteFile(path, []byte(now), 0o666); err != nil {
			t.Fatal(err)
		}
		j.leases.takeAway(path, "dead-7-0")
		if text, err := os.ReadFile(path); (err == nil) != stays || stays && string(text) != now {
			t.Errorf("%s: %q, %v", now, text, err)
		}
		if left, _ := filepath.Glob(filepath.Join(folder, "*.taken")); left != nil {
			t.Errorf("%v are left", left)
		}
		os.Remove(path)
	}
}
