package journal

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
)

// ErrDamaged marks a file, or a part of one, that has changed since it was written.
var ErrDamaged = errors.New("damaged")

// A checksum is the last field of a JSON object: ,"sum":"…"} and a newline. It is the first 64
// bits, in hexadecimal, of the SHA-256 of all bytes before it.
const (
	sumBefore = `,"sum":"`
	sumAfter  = "\"}\n"
	sumDigits = 16
	sumLength = len(sumBefore) + sumDigits + len(sumAfter)
)

// Seal adds a checksum to the text of a JSON object that is not empty, and ends the line.
func Seal(object []byte) []byte {
	text := bytes.TrimRight(object, "\n")
	text = bytes.TrimRight(text[:len(text)-1], "\n ") // without its brace
	sum := checksum(text)
	return append(append(append(text[:len(text):len(text)], sumBefore...), sum...), sumAfter...)
}

// CheckSeal reports whether a text ends with a checksum. A wrong checksum is an ErrDamaged.
func CheckSeal(text []byte) (sealed bool, err error) {
	n := len(text) - sumLength
	if n < 0 || !bytes.HasPrefix(text[n:], []byte(sumBefore)) || !bytes.HasSuffix(text, []byte(sumAfter)) {
		return false, nil
	}
	if found := text[n+len(sumBefore) : len(text)-len(sumAfter)]; !bytes.Equal(found, checksum(text[:n])) {
		return true, fmt.Errorf("%w: its checksum is not that of its bytes", ErrDamaged)
	}
	return true, nil
}

func checksum(text []byte) []byte {
	sum := sha256.Sum256(text)
	return hex.AppendEncode(nil, sum[:sumDigits/2])
}
