package table

import (
	"crypto/rand"
	"fmt"
	"io"
	"strings"

	"github.com/gpc-tune/gpc-tune/internal/terminal"
)

// Screen is the terminal for a text; the zero value means no terminal and no limit of width.
type Screen struct {
	Width int // columns; 0: unlimited
	// Receives colour codes unescaped; nil: no colours.
	Color io.Writer
	sign  string // encloses codes, so that no text can be mistaken for one
}

// signed is the screen with a random sign, which no text contains.
func (s Screen) signed() Screen {
	s.sign = "\x00" + rand.Text() + "\x00"
	return s
}

// show writes a text with its colour codes.
func (s Screen) show(out io.Writer, text string) error {
	for i, part := range strings.Split(text, s.sign) {
		var err error
		if i%2 == 0 {
			_, err = io.WriteString(out, part)
		} else {
			_, err = fmt.Fprintf(s.Color, "\x1b[%sm", part)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// styled encloses a text in an ANSI style.
func (s Screen) styled(style, text string) string {
	if s.Color == nil || text == "" {
		return text
	}
	return s.sign + style + s.sign + text + s.sign + "0" + s.sign
}

func (s Screen) bold(text string) string { return s.styled("1", text) }
func (s Screen) bad(text string) string  { return s.styled("31", text) }

// marked styles a line of a table by the mark of its row.
func (s Screen) marked(mark Mark, line string) string {
	switch mark {
	case Winner:
		return s.styled("1;32", line)
	case InSet:
		return s.styled("32", line)
	case NotCompeting:
		return s.styled("2", line)
	}
	return line
}

// wrap breaks a text between words; further lines begin with the indent.
func (s Screen) wrap(text, indent string) string { return terminal.Wrap(text, s.Width, indent) }
