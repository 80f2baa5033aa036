package tables

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// parquet reads the rows of a Parquet file, one page of each column at a time.
type parquet struct {
	table   *Table
	content string
	groups  []format.RowGroup
	columns []*parquetColumn
	left    int64 // rows of the group that are not read yet
	row     int   // rows read
	fields  []Field
}

// openParquet opens a Parquet file. Its columns hold numbers, texts, truth values, dates or times;
// nested ones are refused.
func openParquet(t *Table, src Source, _ *Options) (Rows, int) {
	t.Form, t.Header = "Parquet", true
	t.Faults.place = func(row, _ int) string { return "row " + strconv.Itoa(row) }
	p := &parquet{table: t, content: src.text}
	meta, err := p.footer()
	if err == nil {
		err = p.describe(meta)
	}
	if err != nil {
		t.Faults.Add(0, 0, "%v", err)
		return nil, 0
	}
	for _, c := range p.columns {
		t.Names = append(t.Names, c.name)
	}
	t.Label = len(t.Names) - 1
	t.distinguish()
	p.fields = make([]Field, len(p.columns))
	return p, int(meta.NumRows)
}

// footer reads the description of the file at its end.
func (p *parquet) footer() (*format.FileMetaData, error) {
	const tail = 8 // the size of the footer, and the magic
	size := len(p.content)
	if size < len(parquetMagic)+tail || !strings.HasSuffix(p.content, parquetMagic) {
		return nil, fmt.Errorf("does not end as a Parquet file; it %w", errDamaged)
	}
	length := int64(binary.LittleEndian.Uint32([]byte(p.content[size-tail:])))
	if length > int64(size-tail-len(parquetMagic)) {
		return nil, fmt.Errorf("has a footer of %d bytes, more than the file; it %w", length, errDamaged)
	}
	meta := new(format.FileMetaData)
	text := strings.NewReader(p.content[size-tail-int(length) : size-tail])
	err := guarded(func() error { return thrift.NewDecoder(newThriftReader(text)).Decode(meta) })
	if err == nil && text.Len() > 0 {
		err = fmt.Errorf("%d bytes are left", text.Len())
	}
	if err != nil {
		return nil, fmt.Errorf("has a footer that cannot be read (%v); it %w", err, errDamaged)
	}
	return meta, nil
}

// describe sets columns and row groups, and checks that the file can have the number of rows in its
// footer.
func (p *parquet) describe(meta *format.FileMetaData) error {
	if len(meta.Schema) < 2 || int(meta.Schema[0].NumChildren.V) != len(meta.Schema)-1 {
		for _, e := range meta.Schema[min(1, len(meta.Schema)):] {
			if e.NumChildren.V > 0 {
				return fmt.Errorf("has the column %q, which is nested (a list, a map or a structure); write a column "+
					"for each of its parts, or leave it out", e.Name)
			}
		}
		return fmt.Errorf("has no columns, or a description of them that contradicts itself; it %w", errDamaged)
	}
	for _, e := range meta.Schema[1:] {
		c := &parquetColumn{name: strings.TrimSpace(e.Name), path: e.Name, kind: e.Type.V, length: int(e.TypeLength.V),
			optional: e.RepetitionType.V != format.Required}
		if !e.Type.Valid || e.RepetitionType.V > format.Optional {
			return fmt.Errorf("has the column %q, which is nested (a list, a map or a structure); write a column "+
				"for each of its parts, or leave it out", e.Name)
		}
		if c.cell = parquetCell(c.kind, &e); c.cell == nil {
			return fmt.Errorf("has the column %q of a type that is no number, text, truth value, date or time; leave "+
				"it out, or write it as one of them", e.Name)
		}
		if size := map[format.Type]int{format.Int32: 4, format.Float: 4, format.Int64: 8, format.Double: 8,
			format.Int96: 12}[c.kind]; size > 0 {
			c.length = size
		}
		if c.kind == format.FixedLenByteArray && c.length < 1 {
			return fmt.Errorf("has values of %d bytes in column %q; it %w", c.length, e.Name, errDamaged)
		}
		p.columns = append(p.columns, c)
	}
	rows := int64(0)
	for g, group := range meta.RowGroups {
		if group.NumRows < 0 || len(group.Columns) != len(p.columns) {
			return fmt.Errorf("row group %d has %d columns and %d rows; the file has %d columns; it %w", g+1,
				len(group.Columns), group.NumRows, len(p.columns), errDamaged)
		}
		rows = min(rows, math.MaxInt32) + min(group.NumRows, math.MaxInt32)
	}
	if rows == 0 {
		return errors.New("has no rows; a table has one for each case")
	}
	if rows != meta.NumRows {
		return fmt.Errorf("has %d rows by its footer, and others by its row groups; it %w", meta.NumRows, errDamaged)
	}
	most := max(sparseFree, maxSparsity*int64(len(p.content)))
	if columns := int64(len(p.columns)); rows > most/columns {
		return fmt.Errorf("has %d rows of %d columns by its footer, too many for %d bytes; it %w", rows, columns,
			len(p.content), errDamaged)
	}
	p.groups = meta.RowGroups
	return nil
}

func (p *parquet) Next() (line int, ok bool) {
	for p.left == 0 {
		if len(p.groups) == 0 {
			return 0, false
		}
		p.left = p.groups[0].NumRows
		for j, c := range p.columns {
			chunk := &p.groups[0].Columns[j]
			if err := c.pages.open(c, p.content, chunk, p.left); err != nil {
				return p.broken(c, err)
			}
		}
		p.groups = p.groups[1:]
	}
	p.left--
	p.row++
	for j, c := range p.columns {
		var err error
		if p.fields[j], err = c.pages.next(); err != nil {
			return p.broken(c, err)
		}
	}
	return p.row, true
}

// broken reports a column that cannot be read on.
func (p *parquet) broken(c *parquetColumn, err error) (line int, ok bool) {
	p.table.Faults.Add(max(1, p.row), 0, "column %q: %v", c.name, err)
	p.groups, p.left = nil, 0
	return 0, false
}

func (p *parquet) Cell(column int) Field { return p.fields[column] }

func (p *parquet) At(int) int { return 0 }

// parquetCell returns the function that makes a cell of a value's bytes; nil: none can be made.
func parquetCell(kind format.Type, e *format.SchemaElement) func(value []byte) (Field, error) {
	sure := func(of func(v []byte) Field) func([]byte) (Field, error) {
		return func(v []byte) (Field, error) { return of(v), nil }
	}
	signed := func(v []byte) int64 {
		if kind == format.Int32 {
			return int64(int32(binary.LittleEndian.Uint32(v)))
		}
		return int64(binary.LittleEndian.Uint64(v))
	}
	was := deprecated.ConvertedType(-1)
	if e.ConvertedType.Valid {
		was = e.ConvertedType.V
	}
	switch kind {
	case format.Boolean:
		return sure(func(v []byte) Field { return Field{Text: strconv.FormatBool(v[0] != 0)} })
	case format.Float:
		return sure(func(v []byte) Field {
			return numberCell(float64(math.Float32frombits(binary.LittleEndian.Uint32(v))), 32)
		})
	case format.Double:
		return sure(func(v []byte) Field { return numberCell(math.Float64frombits(binary.LittleEndian.Uint64(v)), 64) })
	case format.Int96: // nanoseconds of a Julian day
		return sure(func(v []byte) Field {
			days := int64(binary.LittleEndian.Uint32(v[8:])) - 2440588
			return timeCell(time.Unix(days*86400, int64(binary.LittleEndian.Uint64(v))))
		})
	}
	if scale, is := decimalScale(e, was); is {
		if scale < 0 || scale > 100 {
			return nil
		}
		if kind == format.Int32 || kind == format.Int64 {
			return sure(func(v []byte) Field { return decimalCell(big.NewInt(signed(v)), scale) })
		}
		return func(v []byte) (Field, error) {
			if len(v) > 64 {
				return Field{}, fmt.Errorf("a decimal number of %d bytes", len(v))
			}
			n := new(big.Int).SetBytes(v)
			if len(v) > 0 && v[0] >= 0x80 { // two's complement
				n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(v))))
			}
			return decimalCell(n, scale), nil
		}
	}
	switch kind {
	case format.ByteArray:
		return textValue
	case format.Int32, format.Int64:
		return sure(wholeKind(kind, e, was, signed))
	}
	if _, uuid := e.LogicalType.Value.(*format.UUIDType); uuid && e.TypeLength.V == 16 {
		return sure(func(v []byte) Field {
			h := hex.EncodeToString(v)
			return Field{Text: h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]}
		})
	}
	return nil
}

// textValue is a value that must be text.
func textValue(v []byte) (Field, error) {
	text := string(v)
	if !utf8.Valid(v) || strings.ContainsRune(text, 0) {
		if len(text) > 40 {
			text = text[:40]
		}
		return Field{}, fmt.Errorf("%q is not UTF-8 text", text)
	}
	return textCell(text), nil
}

// decimalScale returns the number of decimals of a decimal column.
func decimalScale(e *format.SchemaElement, was deprecated.ConvertedType) (scale int, is bool) {
	if decimal, is := e.LogicalType.Value.(*format.DecimalType); is {
		return int(decimal.Scale), true
	}
	return int(e.Scale.V), was == deprecated.Decimal
}

// decimalCell is n / 10^scale.
func decimalCell(n *big.Int, scale int) Field {
	text := new(big.Rat).SetFrac(n, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil)).FloatString(scale)
	v, _ := strconv.ParseFloat(text, 64)
	return typedCell(text, v)
}

// wholeKind returns the meaning of the whole numbers of a column.
func wholeKind(kind format.Type, e *format.SchemaElement, was deprecated.ConvertedType,
	signed func(v []byte) int64) func(v []byte) Field {
	moment, clock := time.Duration(0), false
	unit := func(u format.TimeUnit) time.Duration {
		switch u.Value.(type) {
		case *format.MilliSeconds:
			return time.Millisecond
		case *format.MicroSeconds:
			return time.Microsecond
		}
		return time.Nanosecond
	}
	unsigned := was >= deprecated.Uint8 && was <= deprecated.Uint64
	day := was == deprecated.Date
	switch was {
	case deprecated.TimestampMillis, deprecated.TimeMillis:
		moment, clock = time.Millisecond, was == deprecated.TimeMillis
	case deprecated.TimestampMicros, deprecated.TimeMicros:
		moment, clock = time.Microsecond, was == deprecated.TimeMicros
	}
	switch logical := e.LogicalType.Value.(type) {
	case *format.IntType:
		unsigned = !logical.IsSigned
	case *format.DateType:
		day = true
	case *format.TimestampType:
		moment, clock = unit(logical.Unit), false
	case *format.TimeType:
		moment, clock = unit(logical.Unit), true
	}
	since := func(v []byte) time.Time {
		perSecond := int64(time.Second / moment)
		n := signed(v)
		return time.Unix(n/perSecond, n%perSecond*int64(moment)).UTC()
	}
	switch {
	case day:
		return func(v []byte) Field { return Field{Text: time.Unix(signed(v)*86400, 0).UTC().Format(time.DateOnly)} }
	case clock:
		return func(v []byte) Field { return Field{Text: since(v).Format("15:04:05.999999999")} }
	case moment > 0:
		return func(v []byte) Field { return timeCell(since(v)) }
	case unsigned && kind == format.Int32:
		return func(v []byte) Field { return wholeCell(int64(binary.LittleEndian.Uint32(v))) }
	case unsigned:
		return func(v []byte) Field {
			n := binary.LittleEndian.Uint64(v)
			return typedCell(strconv.FormatUint(n, 10), float64(n))
		}
	}
	return func(v []byte) Field { return wholeCell(signed(v)) }
}
