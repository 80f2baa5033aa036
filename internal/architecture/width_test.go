package architecture

import (
	"bufio"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// Lines of code have at most codeColumns columns, lines of comments at most commentColumns; a tab counts as 4.
const (
	codeColumns    = 120
	commentColumns = 100
)

func TestLinesAreNarrow(t *testing.T) {
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		in, err := os.Open(path)
		if err != nil {
			return err
		}
		defer in.Close()
		lines := bufio.NewScanner(in)
		for n := 1; lines.Scan(); n++ {
			columns := utf8.RuneCountInString(strings.ReplaceAll(lines.Text(), "\t", "    "))
			text := strings.TrimSpace(lines.Text())
			switch comment := strings.HasPrefix(text, "//"); {
			case n == 1 && strings.HasPrefix(text, "// Code generated "):
				return nil
			case strings.HasPrefix(text, "//go:") || columns <= commentColumns || !comment && columns <= codeColumns:
			default:
				t.Errorf("%s:%d: %d columns", name, n, columns)
			}
		}
		return lines.Err()
	})
	if err != nil {
		t.Fatal(err)
	}
}
