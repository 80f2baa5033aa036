package schedule

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
)

// jobKey is the hash of everything that determines a job's result.
func jobKey(study, kind string, index int, points [][]float64) string {
	b := fmt.Appendf(nil, "%q %q %d %d", study, kind, index, len(points))
	for _, theta := range points {
		b = binary.LittleEndian.AppendUint64(b, uint64(len(theta)))
		for _, u := range theta {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(u))
		}
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:16])
}
