package architecture

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// picture reads the rooms in the picture of floors of docs/architecture.md, from the top to the
// bottom and within a floor from left to right.
func picture(t *testing.T) (rooms []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "architecture.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(text), "\n## Floors\n")
	_, after, _ = strings.Cut(after, "```\n")
	block, _, found := strings.Cut(after, "```")
	if !found {
		t.Fatal("docs/architecture.md has no picture of the floors")
	}
	floor := ""
	for line := range strings.Lines(block) {
		names := strings.Fields(line)
		if !strings.HasPrefix(line, " ") {
			floor, names = names[0], names[1:]
		}
		for _, name := range names {
			rooms = append(rooms, path.Join(floor, name))
		}
	}
	return rooms
}

// Imports run down the picture of floors or to the right. The module's own package, which embeds
// the licence, lies below all floors.
func TestFloors(t *testing.T) {
	order, all := picture(t), inRooms(t)
	delete(all, ".")
	for i, room := range order {
		p, is := all[room]
		if !is || slices.Contains(order[:i], room) {
			t.Errorf("docs/architecture.md: the picture of floors has %s, which is no package or stands there twice", room)
			continue
		}
		for _, imported := range p.Imports {
			to, ours := strings.CutPrefix(imported, module)
			if at := slices.Index(order, to); ours && at >= 0 && at < i {
				t.Errorf("%s imports %s, which stands above or left of it in the picture of floors in "+
					"docs/architecture.md. Move what it needs down, or let a caller pass it", room, to)
			}
		}
	}
	for room := range all {
		if !slices.Contains(order, room) {
			t.Errorf("docs/architecture.md: the picture of floors lacks %s; put it left of what it imports", room)
		}
	}
}
