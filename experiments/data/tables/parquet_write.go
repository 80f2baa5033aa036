package tables

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// Column is a column of a table in memory. Numbers are float64, little endian, and missing ones
// NaN. A text follows its number of bytes, a uint32, little endian; missing ones are empty.
type Column struct {
	Name    string
	Numbers bool // else texts
	Values  []byte
}

// WriteParquet writes a table as a Parquet file with one page for each column.
func WriteParquet(columns []Column, rows int) ([]byte, error) {
	var out bytes.Buffer
	out.WriteString(parquetMagic)
	write := thrift.NewEncoder(new(thrift.CompactProtocol).NewWriter(&out))
	meta := format.FileMetaData{Version: 1, NumRows: int64(rows), Schema: []format.SchemaElement{{Name: "schema",
		NumChildren: thrift.New(int32(len(columns)))}}}
	var chunks []format.ColumnChunk
	for _, c := range columns {
		if len(c.Values) > math.MaxInt32 || c.Numbers && len(c.Values) != 8*rows {
			return nil, fmt.Errorf("column %q has %d bytes for %d rows", c.Name, len(c.Values), rows)
		}
		of := format.SchemaElement{Name: c.Name, RepetitionType: thrift.New(format.Required),
			Type: thrift.New(format.Double)}
		if !c.Numbers {
			of.Type, of.ConvertedType = thrift.New(format.ByteArray), thrift.New(deprecated.UTF8)
		}
		meta.Schema = append(meta.Schema, of)
		at, size := out.Len(), int32(len(c.Values))
		page := format.PageHeader{Type: format.DataPage, CompressedPageSize: size, UncompressedPageSize: size}
		page.DataPageHeader = thrift.New(format.DataPageHeader{NumValues: int32(rows),
			DefinitionLevelEncoding: format.RLE, RepetitionLevelEncoding: format.RLE})
		if err := write.Encode(&page); err != nil {
			return nil, err
		}
		out.Write(c.Values)
		length := int64(out.Len() - at)
		chunks = append(chunks, format.ColumnChunk{FileOffset: int64(at), MetaData: format.ColumnMetaData{
			Type: of.Type.V, Encoding: []format.Encoding{format.Plain}, PathInSchema: []string{c.Name},
			NumValues: int64(rows), TotalUncompressedSize: length, TotalCompressedSize: length,
			DataPageOffset: int64(at)}})
	}
	meta.RowGroups = []format.RowGroup{{Columns: chunks, TotalByteSize: int64(out.Len() - len(parquetMagic)),
		NumRows: int64(rows)}}
	before := out.Len()
	if err := write.Encode(&meta); err != nil {
		return nil, err
	}
	size := binary.LittleEndian.AppendUint32(nil, uint32(out.Len()-before))
	out.Write(size)
	out.WriteString(parquetMagic)
	return out.Bytes(), nil
}
