package journal

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/gpc-tune/gpc-tune/internal/atomicfile"
	"github.com/gpc-tune/gpc-tune/internal/machine"
)

const (
	beat   = 5 * time.Second  // interval at which a process touches its .alive file
	silent = 60 * time.Second // a process without a beat for this time counts as dead
)

// leases reserves jobs for one of the processes that share a folder. The file
// DIR/journal/leases/JOB names the holder, and only one process can create it. The holder touches
// the file HOLDER.alive again and again. The first line of both files is HOST-PID-N, the name of
// the holder's segment. The second line is its machine.Process, because containers may have equal
// names and numbers. The lease of a holder that has died is removed at once if machine.Ended
// reports its end. Otherwise it is removed when HOLDER.alive has not changed for a minute, by the
// clock of this process, so that the clocks of machines need not agree.
type leases struct {
	mu     sync.Mutex
	folder string
	holder string // content of the files of this process
	held   map[string]bool
	seen   map[string]sight // files of other processes, by path
	quit   chan struct{}    // closed: no further beats
}

// sight has the modification time of a file, and the time at which this process first saw it.
type sight struct{ changed, at time.Time }

// claim makes a lease; fresh: this call has made it. folder and segment belong to this process.
func (l *leases) claim(folder, segment, key string) (ours, fresh bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held[key] {
		return true, false, nil
	}
	if l.quit == nil {
		if err := l.begin(folder, segment); err != nil {
			return false, false, err
		}
	}
	path := filepath.Join(l.folder, key)
	for range 3 { // it may be released or taken away in between
		err := l.create(path)
		if err == nil {
			l.held[key] = true
			return true, true, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return false, false, err
		}
		holder, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil || l.alive(string(holder), path) {
			return false, false, err
		}
		l.takeAway(path, string(holder))
	}
	return false, false, nil
}

// elsewhere counts the leases of other holders in a folder.
func (l *leases) elsewhere(folder string) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	files, _ := os.ReadDir(folder) // without a folder there are none
	for _, f := range files {
		if filepath.Ext(f.Name()) != "" { // a sign of life, or a lease that is being taken away
			continue
		}
		holder, err := os.ReadFile(filepath.Join(folder, f.Name()))
		if err == nil && string(holder) != l.holder && !ended(string(holder)) {
			n++
		}
	}
	return n
}

// Running counts the processes at work in the folder of a run. A process of another machine counts
// for a minute after its last sign of life.
func Running(dir string) (n int) {
	signs, _ := filepath.Glob(filepath.Join(dir, "journal", "leases", "*.alive"))
	for _, path := range signs {
		holder, err := os.ReadFile(path)
		info, gone := os.Stat(path)
		if err == nil && gone == nil && !ended(string(holder)) && time.Since(info.ModTime()) < silent {
			n++
		}
	}
	return n
}

// asked is the holder of leases that outlive their process: of trials that another program
// evaluates.
const asked = "asked"

// reserve makes a lease that ends with told. A lease of a process that has died is taken away.
func (l *leases) reserve(key string) (ours bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	path := filepath.Join(l.folder, key)
	for range 3 {
		err := atomicfile.Create(path, func(w io.Writer) error {
			_, err := io.WriteString(w, asked)
			return err
		})
		if !errors.Is(err, fs.ErrExist) {
			return err == nil, err
		}
		holder, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil || l.alive(string(holder), path) {
			return false, err
		}
		l.takeAway(path, string(holder))
	}
	return false, nil
}

// reserved reports whether reserve has made a lease in this folder, and when.
func (l *leases) reserved(folder, key string) (since time.Time, is bool) {
	path := filepath.Join(folder, key)
	holder, err := os.ReadFile(path)
	info, lost := os.Stat(path)
	if folder == "" || err != nil || lost != nil || string(holder) != asked {
		return since, false
	}
	return info.ModTime(), true
}

// told removes a lease of reserve.
func (l *leases) told(folder, key string) {
	if _, is := l.reserved(folder, key); is {
		os.Remove(filepath.Join(folder, key))
	}
}

func (l *leases) holds(key string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.quit == nil {
		return true
	}
	holder, err := os.ReadFile(filepath.Join(l.folder, key))
	return err == nil && string(holder) == l.holder
}

func (l *leases) release(key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.remove(key)
}

// remove removes the file of a lease that this process holds.
func (l *leases) remove(key string) {
	path := filepath.Join(l.folder, key)
	if holder, err := os.ReadFile(path); l.held[key] && err == nil && string(holder) == l.holder {
		os.Remove(path)
	}
	delete(l.held, key)
}

func (l *leases) releaseAll() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.quit == nil {
		return
	}
	for key := range l.held {
		l.remove(key)
	}
	close(l.quit)
	l.quit = nil
	os.Remove(l.sign(l.holder))
	l.sweep()
	os.Remove(l.folder) // if it is empty
}

// sweep removes the files of killed processes of this machine.
func (l *leases) sweep() {
	files, _ := os.ReadDir(l.folder) // after an error files remain, which do no harm
	for _, f := range files {
		path := filepath.Join(l.folder, f.Name())
		holder, err := os.ReadFile(path)
		switch {
		case err != nil || !ended(string(holder)):
		case filepath.Ext(path) == ".alive":
			os.Remove(path)
		default:
			l.takeAway(path, string(holder))
		}
	}
}

// begin shows that this process is alive, now and until ReleaseAll.
func (l *leases) begin(folder, segment string) error {
	l.folder, l.holder = folder, strings.TrimSuffix(filepath.Base(segment), ".jsonl")
	if process := machine.Process(); process != "" {
		l.holder += "\n" + process
	}
	path := l.sign(l.holder)
	for left := 100; ; left-- { // a process that ends may remove the folder, while it is empty
		if err := os.Mkdir(folder, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		err := os.WriteFile(path, []byte(l.holder), 0o666)
		if err == nil {
			break
		}
		if left == 0 || !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	l.held, l.seen, l.quit = map[string]bool{}, map[string]sight{}, make(chan struct{})
	go func(quit <-chan struct{}) {
		tick := time.NewTicker(beat)
		defer tick.Stop()
		for {
			select {
			case now := <-tick.C:
				os.Chtimes(path, now, now) // after an error this beat is missing
			case <-quit:
				return
			}
		}
	}(l.quit)
	return nil
}

// alive reports whether the holder of a lease runs, as far as this process can tell. A lease
// without a holder is being written.
func (l *leases) alive(holder, lease string) bool {
	if holder == asked {
		return true
	}
	path := lease
	if holder != "" {
		path = l.sign(holder)
	}
	info, err := os.Stat(path)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	if last := l.seen[path]; !info.ModTime().Equal(last.changed) {
		l.seen[path] = sight{info.ModTime(), time.Now()}
	}
	return time.Since(l.seen[path].at) < silent && !ended(holder)
}

// sign returns the path of HOLDER.alive.
func (l *leases) sign(holder string) string {
	name, _, _ := strings.Cut(holder, "\n")
	return filepath.Join(l.folder, name+".alive")
}

// ended reports whether the holder is known to have ended.
func ended(holder string) bool {
	_, process, _ := strings.Cut(holder, "\n")
	return machine.Ended(process)
}

// takeAway removes the lease of a holder that has died. If several processes try, one of them
// renames the file. If the renamed file is a new lease of another process, it is put back.
func (l *leases) takeAway(path, holder string) {
	moved := strings.TrimSuffix(l.sign(l.holder), ".alive") + ".taken"
	if os.Rename(path, moved) != nil {
		return
	}
	if now, err := os.ReadFile(moved); err == nil && string(now) != holder {
		os.Link(moved, path)
	}
	os.Remove(moved)
}

// create makes the file of a lease, which must not exist. It makes a link to HOLDER.alive, so that
// the lease names its holder from the first moment. Otherwise a process killed between creating and
// writing the file would leave a lease without a holder, which counts for a minute. Some file
// systems have no links; there the file is written.
func (l *leases) create(path string) error {
	err := os.Link(l.sign(l.holder), path)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	_, err = f.WriteString(l.holder)
	if err = errors.Join(err, f.Close()); err != nil {
		os.Remove(path)
	}
	return err
}

// hostname is the name of this machine.
func hostname() string {
	if host, err := os.Hostname(); err == nil {
		return host
	}
	return "worker"
}
