package tables

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// The levels of a page have to be in it: lengths that are negative or too large are a page that is cut short.
func TestLevelsOutsideOfPages(t *testing.T) {
	const size = 8
	for _, c := range []struct {
		repeated, defined int32
		short             bool
	}{{0, 0, false}, {0, size, false}, {3, 5, false}, {size, 0, false}, {-1, 0, true}, {0, -1, true}, {2, -1, true},
		{-1, -1, true}, {-1, 3, true}, {size + 1, 0, true}, {size + 1, -2, true}, {0, size + 1, true}, {3, 6, true}, {size, 1, true}} {
		header := format.PageHeader{Type: format.DataPageV2, CompressedPageSize: size, UncompressedPageSize: size}
		header.DataPageHeaderV2.Valid = true
		header.DataPageHeaderV2.V.DefinitionLevelsByteLength = c.defined
		header.DataPageHeaderV2.V.RepetitionLevelsByteLength = c.repeated
		var b bytes.Buffer
		if err := thrift.NewEncoder(new(thrift.CompactProtocol).NewWriter(&b)).Encode(&header); err != nil {
			t.Fatal(err)
		}
		b.WriteString(strings.Repeat("\x00", size))
		p := pages{column: &parquetColumn{optional: c.defined > 0}, chunk: strings.NewReader(b.String()), left: 1}
		if err := guarded(p.page); errors.Is(err, errShort) != c.short || (err == nil) == c.short {
			t.Errorf("%d and %d bytes of %d: %v", c.repeated, c.defined, size, err)
		}
	}
}
