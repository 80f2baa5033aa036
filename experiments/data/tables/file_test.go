package tables

import (
	"bytes"
	"compress/gzip"
	"strings"
	"testing"
)

func TestSizeLimits(t *testing.T) {
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	w.Write(bytes.Repeat([]byte("1"), 2000))
	w.Close()
	_, err := Decode("f", &zipped, "", 1000, 0)
	if err == nil || !strings.Contains(err.Error(), "more than 1000 bytes") {
		t.Errorf("text limit: %v", err)
	}
	e := &FileError{}
	if e.Fits(MaxCells/2+1, 2) || e.Fits(1, MaxColumns+1) || !e.Fits(MaxCells/2, 2) {
		t.Error("cell limit")
	}
}
