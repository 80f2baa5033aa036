//go:build parquet

package data

import (
	"bytes"
	"math"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	parquetgo "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding"
)

func init() { writes, writesTypes = writeTable, writeTypes }

var (
	encodings = map[string]encoding.Encoding{"": nil, "dictionary": &parquetgo.RLEDictionary, "plain": &parquetgo.Plain,
		"split": &parquetgo.ByteStreamSplit}
	codecs = map[string]compress.Codec{"": nil, "none": &parquetgo.Uncompressed, "snappy": &parquetgo.Snappy, "zstd": &parquetgo.Zstd,
		"gzip": &parquetgo.Gzip, "brotli": &parquetgo.Brotli, "lz4": &parquetgo.Lz4Raw}
)

// writeTable writes a table, with the columns in alphabetical order.
func writeTable(names []string, rows [][]string, group int, encoded, compressed string, page int) string {
	as, by := encodings[encoded], codecs[compressed]
	nodes := parquetgo.Group{}
	for j, name := range names {
		node := parquetgo.String()
		if numeric(rows, j) {
			node = parquetgo.Leaf(parquetgo.DoubleType)
		}
		if as != nil && (as.Encoding() != parquetgo.ByteStreamSplit.Encoding() || numeric(rows, j)) {
			node = parquetgo.Encoded(node, as)
		}
		nodes[name] = parquetgo.Compressed(parquetgo.Optional(node), by)
	}
	schema := parquetgo.NewSchema("table", nodes)
	var b bytes.Buffer
	w := parquetgo.NewWriter(&b, schema, parquetgo.DataPageVersion(page))
	order := slices.Sorted(slices.Values(names))
	for i, row := range rows {
		var values parquetgo.Row
		for k, name := range order {
			j := slices.Index(names, name)
			v := parquetgo.ValueOf(row[j]).Level(0, 1, k)
			switch x, _ := strconv.ParseFloat(row[j], 64); {
			case row[j] == "":
				v = parquetgo.NullValue().Level(0, 0, k)
			case numeric(rows, j):
				v = parquetgo.ValueOf(x).Level(0, 1, k)
			}
			values = append(values, v)
		}
		if _, err := w.WriteRows([]parquetgo.Row{values}); err != nil {
			panic(err)
		}
		if i%group == group-1 {
			if err := w.Flush(); err != nil {
				panic(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return b.String()
}

// everyType has a column of each type that a cell can be made of.
type everyType struct {
	Bool    bool             `parquet:"bool"`
	I8      int8             `parquet:"i8"`
	U64     uint64           `parquet:"u64"`
	U32     uint32           `parquet:"u32"`
	Delta32 int32            `parquet:"delta32,delta"`
	Delta64 int64            `parquet:"delta64,delta"`
	F32     float32          `parquet:"f32"`
	F64     float64          `parquet:"f64"`
	Text    string           `parquet:"text,delta"`
	Dict    string           `parquet:"dict,dict"`
	Day     int32            `parquet:"day,date"`
	Milli   int64            `parquet:"milli,timestamp(millisecond)"`
	Nano    int64            `parquet:"nano,timestamp(nanosecond)"`
	Clock   int64            `parquet:"clock,time(microsecond)"`
	Price   int64            `parquet:"price,decimal(2:18)"`
	Wide    [9]byte          `parquet:"wide,decimal(3:20)"`
	Old     deprecated.Int96 `parquet:"old"`
	UUID    [16]byte         `parquet:"uuid,uuid"`
	Label   string           `parquet:"label"`
}

func writeTypes() string {
	at := time.Date(1969, 12, 31, 23, 59, 58, 250e6, time.UTC)
	rows := []everyType{{true, -8, math.MaxUint64, math.MaxUint32, -5, math.MinInt64, 0.1, 1e-7, " spaced ", "é", -1, at.UnixMilli(), at.UnixNano(),
		1500000, -12345, [9]byte{255, 255, 255, 255, 255, 255, 255, 251, 46}, deprecated.Int96{1e9, 0, 2440588}, [16]byte{0x12, 15: 0x34}, "A"},
		{false, 8, 0, 1, 7, math.MaxInt64, -1e9, 100, "text", "é", 19000, 0, 1, 0, 5, [9]byte{8: 7}, deprecated.Int96{0, 0, 2440589}, [16]byte{}, "B"},
		{false, 8, 0, 1, 700, 3, 3, 1e22, "texts", "f", 19000, 0, 1, 0, 100, [9]byte{1}, deprecated.Int96{0, 0, 2440589}, [16]byte{}, "A"}}
	return writeRows(rows)
}

func writeRows[R any](rows []R) string {
	var b bytes.Buffer
	w := parquetgo.NewGenericWriter[R](&b)
	if _, err := w.Write(rows); err != nil {
		panic(err)
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return b.String()
}

// flower is a row of iris.
type flower struct {
	SepalLength float64 `parquet:"sepal_length"`
	SepalWidth  float64 `parquet:"sepal_width"`
	PetalLength float64 `parquet:"petal_length"`
	PetalWidth  float64 `parquet:"petal_width"`
	Label       string  `parquet:"label"`
}

// The library writes the stored file of iris; asParquet compares the stored files of other tables.
func TestStoredParquet(t *testing.T) {
	names, rows := sheetOf(t, "iris")
	var flowers []flower
	for _, row := range rows {
		var x [4]float64
		for j := range x {
			var err error
			if x[j], err = strconv.ParseFloat(row[j], 64); err != nil {
				t.Fatal(names[j], err)
			}
		}
		flowers = append(flowers, flower{x[0], x[1], x[2], x[3], row[4]})
	}
	content := writeRows(flowers)
	if *update {
		if err := os.WriteFile("testdata/iris.parquet", []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if stored, err := os.ReadFile("testdata/iris.parquet"); err != nil || string(stored) != content {
		t.Errorf("%v: testdata/iris.parquet is another file: go test -tags parquet ./experiments/data -update", err)
	}
}
