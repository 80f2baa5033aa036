package tables

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strings"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"
)

// parquetColumn is a column of a Parquet file.
type parquetColumn struct {
	name     string
	path     string // name as it is written
	kind     format.Type
	length   int  // bytes of a value of fixed length
	optional bool // values may be missing
	cell     func(value []byte) (Field, error)
	pages    pages // pages of the row group
}

// pages reads the values of one column in one row group. If values may be missing, a page first
// says which ones are present. The present values follow.
type pages struct {
	column *parquetColumn
	chunk  *strings.Reader // pages to come
	codec  format.CompressionCodec
	left   int64 // values of the pages to come

	dictionary []Field
	there      []byte // 1 for each value of the page that is present; nil: all are
	at, n      int    // position in the page, and number of its values
	present    int    // number of values that are present
	values     func() (Field, error)
}

var errDamaged = errors.New("is damaged, or not written completely; fetch the file again")

// decoding is the part of Thrift that decodes single values.
type decoding = thrift.Reader

// thriftReader reads Thrift, whose sizes it checks against the bytes that are left before memory is
// taken for them.
type thriftReader struct {
	decoding
	from *strings.Reader
}

func newThriftReader(from *strings.Reader) thriftReader {
	return thriftReader{new(thrift.CompactProtocol).NewReader(from), from}
}

// within returns err, or an error if n elements of at least size bytes need more bytes than are
// left.
func (r thriftReader) within(n, size int, err error) error {
	if err == nil && n > r.from.Len()/size {
		err = fmt.Errorf("%d elements in %d bytes", n, r.from.Len())
	}
	return err
}

// ReadList reads the size of a list. A structure of the format takes 3 bytes or more.
func (r thriftReader) ReadList() (l thrift.List, err error) {
	size := 1
	if l, err = r.decoding.ReadList(); l.Type == thrift.STRUCT {
		size = 3
	}
	return l, r.within(int(l.Size), size, err)
}

// ReadSet reads the size of a set.
func (r thriftReader) ReadSet() (thrift.Set, error) {
	l, err := r.ReadList()
	return thrift.Set(l), err
}

// ReadMap reads the size of a map.
func (r thriftReader) ReadMap() (thrift.Map, error) {
	m, err := r.decoding.ReadMap()
	return m, r.within(int(m.Size), 2, err)
}

// ReadLength reads the length of a text.
func (r thriftReader) ReadLength() (int, error) {
	n, err := r.decoding.ReadLength()
	return n, r.within(n, 1, err)
}

// ReadBytes reads a text.
func (r thriftReader) ReadBytes() ([]byte, error) {
	n, err := r.ReadLength()
	if err != nil {
		return nil, err
	}
	text := make([]byte, n)
	_, err = io.ReadFull(r.from, text)
	return text, err
}

// ReadString reads a text.
func (r thriftReader) ReadString() (string, error) {
	text, err := r.ReadBytes()
	return string(text), err
}

// guarded runs a decoder of damaged content, whose panic is an error.
func guarded(decode func() error) (err error) {
	defer func() {
		if panicked := recover(); panicked != nil {
			err = fmt.Errorf("%v", panicked)
		}
	}()
	return decode()
}

// oldDictionary is the name of format.RLEDictionary in old files.
const oldDictionary = format.Encoding(2)

var errShort, errLong = errors.New("a page has fewer values than it says"),
	errors.New("a page has more values than it says")

// open sets the pages of a chunk.
func (p *pages) open(c *parquetColumn, content string, chunk *format.ColumnChunk, rows int64) error {
	meta := &chunk.MetaData
	from, size := meta.DataPageOffset, meta.TotalCompressedSize
	if at := meta.DictionaryPageOffset; at > 0 && at < from {
		from = at
	}
	switch {
	case chunk.FilePath != "":
		return fmt.Errorf("its values are in another file, %q", chunk.FilePath)
	case from < 0 || size < 0 || from > int64(len(content)) || size > int64(len(content))-from:
		return fmt.Errorf("its pages at byte %d are not all in the file, which %w", from, errDamaged)
	case meta.NumValues != rows || meta.Type != c.kind:
		return fmt.Errorf("a row group has %d of its values, of type %v, for %d rows of type %v; the file %w",
			meta.NumValues, meta.Type, rows, c.kind, errDamaged)
	case len(meta.PathInSchema) != 1 || meta.PathInSchema[0] != c.path:
		return fmt.Errorf("a row group has the column %q in its place; the file %w",
			strings.Join(meta.PathInSchema, "."), errDamaged)
	}
	*p = pages{column: c, chunk: strings.NewReader(content[from : from+size]), codec: meta.Codec, left: rows}
	return nil
}

// next returns the next value.
func (p *pages) next() (v Field, err error) {
	for p.at == p.n {
		err := guarded(p.page)
		if err != nil {
			return v, fmt.Errorf("a page cannot be read (%w); the file %w", err, errDamaged)
		}
	}
	p.at++
	if p.there != nil && p.there[p.at-1] == 0 {
		return Field{}, nil
	}
	return p.values()
}

// page goes to the next page.
func (p *pages) page() error {
	if p.left == 0 {
		return errShort
	}
	var header format.PageHeader
	if err := thrift.NewDecoder(newThriftReader(p.chunk)).Decode(&header); err != nil {
		return err
	}
	size := int64(header.CompressedPageSize)
	if size < 0 || size > int64(p.chunk.Len()) {
		return fmt.Errorf("it has %d bytes, and %d are left", size, p.chunk.Len())
	}
	content := make([]byte, size)
	if _, err := io.ReadFull(p.chunk, content); err != nil {
		return err
	}
	if sum := uint32(header.CRC); sum != 0 && sum != crc32.ChecksumIEEE(content) {
		return errors.New("its checksum is that of another content")
	}
	plain := int(header.UncompressedPageSize)
	switch {
	case header.DictionaryPageHeader.Valid:
		return p.learn(content, plain, header.DictionaryPageHeader.V)
	case header.DataPageHeader.Valid:
		return p.first(content, plain, header.DataPageHeader.V)
	case header.DataPageHeaderV2.Valid:
		return p.second(content, plain, header.DataPageHeaderV2.V)
	}
	return nil // an index
}

// first begins a page of the first version, whose levels are compressed with its values.
func (p *pages) first(content []byte, plain int, h format.DataPageHeader) error {
	content, err := p.inflate(content, plain)
	if err != nil {
		return err
	}
	levels := []byte(nil)
	if p.column.optional {
		if len(content) < 4 || int64(binary.LittleEndian.Uint32(content)) > int64(len(content)-4) {
			return errShort
		}
		end := 4 + binary.LittleEndian.Uint32(content)
		levels, content = content[4:end], content[end:]
	}
	return p.begin(h.NumValues, levels, content, h.Encoding)
}

// second begins a page of the second version, whose levels come first and are not compressed.
func (p *pages) second(content []byte, plain int, h format.DataPageHeaderV2) error {
	repeated, defined := int(h.RepetitionLevelsByteLength), int(h.DefinitionLevelsByteLength)
	if repeated < 0 || defined < 0 || repeated > len(content) || defined > len(content)-repeated {
		return errShort
	}
	levels, content := content[repeated:repeated+defined], content[repeated+defined:]
	if !p.column.optional && defined > 0 || h.NumRows != h.NumValues {
		return errors.New("it says that it has lists, or missing values in a column without such")
	}
	if !h.IsCompressed.Valid || h.IsCompressed.V {
		var err error
		if content, err = p.inflate(content, plain-repeated-defined); err != nil {
			return err
		}
	}
	err := p.begin(h.NumValues, levels, content, h.Encoding)
	if missing := p.n - p.present; err == nil && missing != int(h.NumNulls) {
		err = fmt.Errorf("it says that %d values are missing, and %d are", h.NumNulls, missing)
	}
	return err
}

// inflate decompresses a page to its size.
func (p *pages) inflate(content []byte, size int) (plain []byte, err error) {
	if p.codec == format.Uncompressed {
		if len(content) != size {
			return nil, fmt.Errorf("it should have %d bytes, and has %d", size, len(content))
		}
		return content, nil
	}
	if size < 0 || size > ratioFree && size > maxRatio*len(content) {
		return nil, fmt.Errorf("it expands to %d times its size", size/max(1, len(content)))
	}
	var r io.Reader = bytes.NewReader(content)
	switch p.codec {
	case format.Snappy:
		if n, err := snappy.DecodedLen(content); err != nil || n != size {
			return nil, fmt.Errorf("it should have %d bytes, and has %d", size, n)
		}
		return snappy.Decode(nil, content)
	case format.Lz4Raw:
		plain = make([]byte, size)
		n, err := lz4.UncompressBlock(content, plain)
		if err == nil && n != size {
			err = errShort
		}
		return plain, err
	case format.Gzip:
		r, err = gzip.NewReader(r)
	case format.Brotli:
		r = brotli.NewReader(r)
	case format.Zstd:
		var z *zstd.Decoder
		if z, err = zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(1<<27)); err == nil {
			defer z.Close()
		}
		r = z
	default:
		return nil, fmt.Errorf("compression %v is not known; write the file with snappy or zstd", p.codec)
	}
	if err != nil {
		return nil, err
	}
	plain, err = io.ReadAll(io.LimitReader(r, int64(size)+1))
	if err == nil && len(plain) != size {
		err = errShort
	}
	return plain, err
}

// learn reads the dictionary, to which pages refer.
func (p *pages) learn(content []byte, size int, h format.DictionaryPageHeader) error {
	content, err := p.inflate(content, size)
	if err != nil {
		return err
	}
	next, err := p.decoder(content, int(h.NumValues), format.Plain)
	if err != nil {
		return err
	}
	p.dictionary = nil
	for range h.NumValues {
		v, err := next()
		if err != nil {
			return err
		}
		p.dictionary = append(p.dictionary, v)
	}
	return nil
}

// begin begins a page of n values.
func (p *pages) begin(n int32, levels, content []byte, as format.Encoding) (err error) {
	if n < 0 || int64(n) > p.left {
		return fmt.Errorf("it has %d values, and %d are left", n, p.left)
	}
	p.at, p.n, p.there = 0, int(n), nil
	p.left -= int64(n)
	p.present = p.n
	if p.column.optional {
		next := hybrid(levels, 1)
		p.there, p.present = make([]byte, n), 0
		for i := range p.there {
			level, err := next()
			if err != nil {
				return err
			}
			p.there[i] = byte(level)
			p.present += int(level)
		}
	}
	p.values, err = p.decoder(content, p.present, as)
	return err
}

// decoder returns a function that returns the values of a page one after another, at most n.
func (p *pages) decoder(content []byte, n int, as format.Encoding) (next func() (Field, error), err error) {
	c := p.column
	switch {
	case as == oldDictionary || as == format.RLEDictionary:
		if len(content) == 0 {
			return func() (Field, error) { return Field{}, errShort }, nil
		}
		index := hybrid(content[1:], int(content[0]))
		return func() (Field, error) {
			k, err := index()
			if err == nil && int(k) >= len(p.dictionary) {
				err = fmt.Errorf("entry %d of a dictionary of %d", k, len(p.dictionary))
			}
			if err != nil {
				return Field{}, err
			}
			return p.dictionary[k], nil
		}, nil
	case c.kind == format.Boolean:
		return p.truths(content, as)
	case c.kind == format.ByteArray && as == format.Plain:
		return p.texts(content, n), nil
	case as == format.Plain && len(content) > n*c.length:
		return nil, errLong
	case as == format.Plain:
		return func() (Field, error) {
			if len(content) < c.length {
				return Field{}, errShort
			}
			value := content[:c.length]
			content = content[c.length:]
			return c.cell(value)
		}, nil
	case as == format.ByteStreamSplit && c.length > 0: // the first bytes of all values, then the second, …
		if len(content) != n*c.length {
			return nil, errShort
		}
		k, value := 0, make([]byte, c.length)
		return func() (Field, error) {
			if k == n {
				return Field{}, errShort
			}
			for b := range value {
				value[b] = content[b*n+k]
			}
			k++
			return c.cell(value)
		}, nil
	}
	return p.deltas(content, n, as)
}

// texts is decoder for byte arrays, each after its length.
func (p *pages) texts(content []byte, n int) (next func() (Field, error)) {
	return func() (Field, error) {
		if len(content) < 4 || int64(binary.LittleEndian.Uint32(content)) > int64(len(content)-4) {
			return Field{}, errShort
		}
		end := 4 + binary.LittleEndian.Uint32(content)
		value := content[4:end]
		content = content[end:]
		if n--; n == 0 && len(content) > 0 {
			return Field{}, errLong
		}
		return p.column.cell(value)
	}
}

// truths is decoder for truth values, which are single bits.
func (p *pages) truths(content []byte, as format.Encoding) (next func() (Field, error), err error) {
	at := 0
	bit := func() (uint32, error) {
		if at/8 >= len(content) {
			return 0, errShort
		}
		at++
		return uint32(content[(at-1)/8] >> ((at - 1) % 8) & 1), nil
	}
	switch {
	case as == format.RLE && len(content) >= 4: // after its size
		bit = hybrid(content[4:], 1)
	case as != format.Plain:
		return nil, errShort
	}
	return func() (Field, error) {
		v, err := bit()
		if err != nil {
			return Field{}, err
		}
		return p.column.cell([]byte{byte(v)})
	}, nil
}

// deltas is decoder for values that are stored as differences from the previous value.
func (p *pages) deltas(content []byte, n int, as format.Encoding) (next func() (Field, error), err error) {
	c, k := p.column, -1
	advance := func() bool { k++; return k < n }
	switch {
	case as == format.DeltaBinaryPacked && (c.kind == format.Int32 || c.kind == format.Int64):
		numbers, _, err := differences(content, n)
		return func() (Field, error) {
			if !advance() {
				return Field{}, errShort
			}
			return c.cell(binary.LittleEndian.AppendUint64(nil, uint64(numbers[k])))
		}, err
	case (as == format.DeltaLengthByteArray || as == format.DeltaByteArray) &&
		(c.kind == format.ByteArray || c.kind == format.FixedLenByteArray):
		shared := make([]int64, n) // number of bytes that each value shares with the previous one
		if as == format.DeltaByteArray {
			if shared, content, err = differences(content, n); err != nil {
				return nil, err
			}
		}
		most := max(ratioFree, maxRatio*len(content))
		lengths, content, err := differences(content, n)
		var value []byte
		return func() (Field, error) {
			if !advance() || shared[k] < 0 || shared[k] > int64(len(value)) || lengths[k] < 0 ||
				lengths[k] > int64(len(content)) {
				return Field{}, errShort
			}
			value = append(value[:shared[k]:shared[k]], content[:lengths[k]]...)
			content = content[lengths[k]:]
			if c.kind == format.FixedLenByteArray && len(value) != c.length {
				return Field{}, errShort
			}
			if most -= len(value); most < 0 {
				return Field{}, errors.New("it expands to too many times its size")
			}
			return c.cell(value)
		}, err
	}
	return nil, fmt.Errorf("encoding %v of %v is not known", as, c.kind)
}

// hybrid returns a function that decodes the next number of content. Each number has width bits.
// The encoding has runs of one number, and packed groups of eight.
func hybrid(content []byte, width int) func() (uint32, error) {
	var run, packed uint64 // numbers left
	var number uint32
	at := 0 // bit of the next number of a packed group
	bytes := (width + 7) / 8
	return func() (uint32, error) {
		for run == 0 && packed == 0 {
			header, size := binary.Uvarint(content)
			if size <= 0 || width > 32 {
				return 0, errShort
			}
			content = content[size:]
			if header&1 == 1 {
				packed, at = header>>1*8, 0
				continue
			}
			if len(content) < bytes {
				return 0, errShort
			}
			run, number = header>>1, 0
			for b := range bytes {
				number |= uint32(content[b]) << (8 * b)
			}
			content = content[bytes:]
		}
		if run > 0 {
			run--
			return number, nil
		}
		v, ok := unpack(content, at, width)
		if !ok {
			return 0, errShort
		}
		at += width
		if packed--; packed == 0 {
			content = content[at/8:]
		}
		return uint32(v), nil
	}
}

// unpack returns the number of width bits that begins at bit at of content.
func unpack(content []byte, at, width int) (v uint64, ok bool) {
	if (at+width+7)/8 > len(content) {
		return 0, false
	}
	for have := 0; have < width; {
		take := min(8-at%8, width-have)
		v |= uint64(content[at/8]>>(at%8)&(1<<take-1)) << have
		at, have = at+take, have+take
	}
	return v, true
}

// differences decodes DELTA_BINARY_PACKED: a first number, and blocks of differences, less their
// minimum, packed with a width for each of some miniblocks. It returns n numbers, and the rest.
func differences(content []byte, n int) (numbers []int64, rest []byte, err error) {
	var head [4]uint64
	for k := range head {
		v, size := binary.Uvarint(content)
		if size <= 0 {
			return nil, nil, errShort
		}
		head[k], content = v, content[size:]
	}
	block, parts := head[0], head[1]
	if head[2] != uint64(n) || parts == 0 || block == 0 || block > 1<<20 || block%parts != 0 || block/parts%8 != 0 {
		return nil, nil, errShort
	}
	signed := func(v uint64) int64 { return int64(v>>1) ^ -int64(v&1) }
	last := signed(head[3])
	if n > 0 {
		numbers = append(numbers, last)
	}
	for len(numbers) < n {
		least, size := binary.Uvarint(content)
		if size <= 0 || uint64(len(content)-size) < parts {
			return nil, nil, errShort
		}
		widths := content[size : size+int(parts)]
		content = content[size+int(parts):]
		for _, width := range widths {
			if len(numbers) == n {
				break // which has no content
			}
			size := int(block/parts) * int(width) / 8
			if width > 64 {
				return nil, nil, errShort
			}
			for k := 0; k < int(block/parts) && len(numbers) < n; k++ {
				v, ok := unpack(content, k*int(width), int(width))
				if !ok {
					return nil, nil, errShort
				}
				last += int64(v) + signed(least)
				numbers = append(numbers, last)
			}
			content = content[min(size, len(content)):]
		}
	}
	return numbers, content, nil
}
