package tables

import (
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// A table in memory comes back from its Parquet file: numbers to the last bit, texts with all their
// characters, and missing values as empty fields.
func TestWriteParquet(t *testing.T) {
	var numbers, texts []byte
	for _, v := range []float64{0.1, math.NaN(), -1e-300, 3.3333333333333335} {
		numbers = binary.LittleEndian.AppendUint64(numbers, math.Float64bits(v))
	}
	for _, text := range []string{"Köln, \"x\"", "", "7", "a\nb"} {
		texts = append(binary.LittleEndian.AppendUint32(texts, uint32(len(text))), text...)
	}
	file, err := WriteParquet([]Column{{"a", true, numbers}, {"µ b", false, texts}}, 4)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "a.parquet")
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	var names []string
	var rows [][]string
	err = Scan(path, func(l Layout) { names = l.Names }, func(fields []string) {
		var row []string
		for _, f := range fields {
			row = append(row, strings.Clone(f))
		}
		rows = append(rows, row)
	})
	want := [][]string{{"0.1", "Köln, \"x\""}, {"", ""}, {"-1e-300", "7"}, {"3.3333333333333335", "a\nb"}}
	if err != nil || !reflect.DeepEqual(names, []string{"a", "µ b"}) || !reflect.DeepEqual(rows, want) {
		t.Errorf("%v: %q, %q, want %q", err, names, rows, want)
	}
	if _, err := WriteParquet([]Column{{"a", true, numbers}}, 3); err == nil {
		t.Error("a column of four numbers in three rows")
	}
}
