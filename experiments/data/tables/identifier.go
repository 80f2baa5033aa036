package tables

import (
	"encoding/binary"
	"math"

	"github.com/gpc-tune/gpc-tune/internal/pattern"
)

// identifierName matches the usual names of columns that number or name their rows.
var identifierName = pattern.Of(`(?i)^(id|uuid|key|index|row|unnamed: 0)$|[_ .-](id|nr|no|key)$|` +
	`(?-i:[a-z](Id|ID|Nr|No)$)`)

// Identifies reports whether a column has the name of an identifier and, in more than two rows,
// only different values, which are texts or whole numbers.
func (c Column) Identifies() bool {
	if !identifierName().MatchString(c.Name) {
		return false
	}
	seen := map[string]bool{}
	rows := 0
	for rest := c.Values; len(rest) > 0; rows++ {
		first, size := 0, 8
		if c.Numbers {
			if len(rest) < size {
				return false
			}
			if v := math.Float64frombits(binary.LittleEndian.Uint64(rest)); v != math.Trunc(v) {
				return false
			}
		} else if first = 4; len(rest) >= first {
			size = first + int(binary.LittleEndian.Uint32(rest))
		}
		if len(rest) < size {
			return false
		}
		seen[string(rest[first:size])] = true
		rest = rest[size:]
	}
	return rows > 2 && len(seen) == rows
}
