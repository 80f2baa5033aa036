package architecture

import (
	"fmt"
	"go/ast"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/tools/go/packages"
	"gonum.org/v1/gonum/graph/simple"
	"gonum.org/v1/gonum/graph/topo"
)

// load returns all packages of the module with syntax and types, without tests.
var load = sync.OnceValues(func() ([]*packages.Package, error) {
	all, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedImports | packages.NeedExportFile | packages.NeedTypes |
			packages.NeedSyntax | packages.NeedTypesInfo,
		Dir: filepath.Join("..", ".."),
	}, "./...")
	for _, p := range all {
		if len(p.Errors) > 0 {
			return nil, p.Errors[0]
		}
	}
	return all, err
})

func program(t *testing.T) []*packages.Package {
	t.Helper()
	all, err := load()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// room returns the folder of a package.
func room(p *packages.Package) string {
	return strings.TrimPrefix(p.PkgPath, module)
}

// An arrow goes from a file to a file that declares something it uses: a name of the package, a method or a field.
type arrow struct{ from, to string }

// arrows finds the arrows among the files of a package, with the names that cause them.
func arrows(p *packages.Package) map[arrow][]string {
	file := func(n ast.Node) string { return filepath.Base(p.Fset.Position(n.Pos()).Filename) }
	out := map[arrow][]string{}
	for id, object := range p.TypesInfo.Uses {
		if object.Pkg() != p.Types || !object.Pos().IsValid() {
			continue
		}
		a := arrow{file(id), filepath.Base(p.Fset.Position(object.Pos()).Filename)}
		if a.from != a.to && !slices.Contains(out[a], id.Name) {
			out[a] = append(out[a], id.Name)
		}
	}
	return out
}

// circles returns the sets of files of a package that use each other, directly or through others.
func circles(of map[arrow][]string) (out [][]string) {
	var names []string
	id := map[string]int64{}
	graph := simple.NewDirectedGraph()
	node := func(file string) simple.Node {
		if _, is := id[file]; !is {
			id[file], names = int64(len(names)), append(names, file)
		}
		return simple.Node(id[file])
	}
	for a := range of {
		graph.SetEdge(graph.NewEdge(node(a.from), node(a.to)))
	}
	for _, set := range topo.TarjanSCC(graph) {
		if len(set) > 1 {
			var files []string
			for _, n := range set {
				files = append(files, names[n.ID()])
			}
			out = append(out, slices.Sorted(slices.Values(files)))
		}
	}
	return out
}

// TestFilesUseEachOtherOneWay: no two files of a package use each other, directly or through others.
func TestFilesUseEachOtherOneWay(t *testing.T) {
	for _, p := range program(t) {
		of := arrows(p)
		found := circles(of)
		for _, files := range found {
			var why []string
			for a, names := range of {
				if slices.Contains(files, a.from) && slices.Contains(files, a.to) {
					slices.Sort(names)
					why = append(why, fmt.Sprintf("  %s -> %s: %s", a.from, a.to, strings.Join(names, " ")))
				}
			}
			slices.Sort(why)
			t.Errorf("%s: %d files use each other in a circle: %s\n%s", room(p), len(files), strings.Join(files, " "),
				strings.Join(why, "\n"))
		}
	}
}
