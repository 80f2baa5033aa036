package run

import (
	"os"
	"path/filepath"
	"testing"
)

// A follower notices the file of drivers, which is written after the last line of the journal, and
// another one in its place.
func TestFollowersNoticeDrivers(t *testing.T) {
	f := Follower{Dir: t.TempDir()}
	name := filepath.Join(f.Dir, driversName)
	write := func() {
		t.Helper()
		if err := os.WriteFile(name+".new", []byte("[]"), 0o666); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(name+".new", name); err != nil {
			t.Fatal(err)
		}
	}
	for i, want := range []bool{false, false, true, false, true, false} {
		if i == 2 || i == 4 {
			write()
		}
		if got := f.hasNewDrivers(); got != want {
			t.Errorf("at look %d: %v, want %v", i, got, want)
		}
	}
}
