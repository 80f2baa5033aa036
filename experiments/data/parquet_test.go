package data

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"sync"
)

var update = flag.Bool("update", false, "with the tag parquet, write testdata/parquet.zip anew")

const parquetFiles = "testdata/parquet.zip"

// writes writes a table in Parquet, and writesTypes a table of all types, if the tests have the tag
// parquet. They use the library github.com/parquet-go/parquet-go, which takes ten seconds to compile.
// Tests without the tag read from parquetFiles what the library has written.
var (
	writes      func(names []string, rows [][]string, group int, as, by string, page int) string
	writesTypes func() string
)

// asParquet is a table in Parquet, with the columns in alphabetical order, row groups of a number of
// rows, an encoding, a compression, and a version of its pages.
func asParquet(names []string, rows [][]string, group int, as, by string, page int) string {
	arguments, err := json.Marshal([]any{names, rows, group, as, by, page})
	if err != nil {
		panic(err)
	}
	name := fmt.Sprintf("%x", sha256.Sum256(arguments))[:16]
	if writes != nil {
		checkStored(name, writes(names, rows, group, as, by, page))
	}
	return storedParquet(name)
}

var parquets = sync.OnceValue(func() map[string]string {
	all := map[string]string{}
	files, err := zip.OpenReader(parquetFiles)
	if *update && errors.Is(err, os.ErrNotExist) {
		return all
	}
	if err != nil {
		panic(err)
	}
	defer files.Close()
	for _, f := range files.File {
		r, err := f.Open()
		if err != nil {
			panic(err)
		}
		content, err := io.ReadAll(r)
		if err != nil {
			panic(err)
		}
		all[f.Name] = string(content)
	}
	return all
})

// typesInParquet is the file with all types.
func typesInParquet() string {
	if writesTypes != nil {
		checkStored("types", writesTypes())
	}
	return storedParquet("types")
}

// storedParquet is a file in parquetFiles.
func storedParquet(name string) string {
	content, ok := parquets()[name]
	if !ok {
		panic(parquetFiles + " lacks a file: go test -tags parquet ./experiments/data -update")
	}
	return content
}

// checkStored checks that the library writes a stored file; with -update it stores the file.
func checkStored(name, content string) {
	if parquets()[name] == content {
		return
	}
	if !*update {
		panic(parquetFiles + " has another file: go test -tags parquet ./experiments/data -update")
	}
	parquets()[name] = content
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(parquets())) {
		f, err := w.Create(name)
		if err != nil {
			panic(err)
		}
		if _, err := io.WriteString(f, parquets()[name]); err != nil {
			panic(err)
		}
	}
	if err := errors.Join(w.Close(), os.WriteFile(parquetFiles, b.Bytes(), 0o644)); err != nil {
		panic(err)
	}
}
