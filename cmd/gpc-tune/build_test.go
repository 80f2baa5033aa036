package main

import (
	"bytes"
	"cmp"
	"debug/elf"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	gpctune "github.com/gpc-tune/gpc-tune"
	"github.com/gpc-tune/gpc-tune/experiments/data/sets"

	"github.com/gpc-tune/gpc-tune/internal/testing/exhaustive"
	_ "github.com/gpc-tune/gpc-tune/internal/testing/garbage"
	"github.com/gpc-tune/gpc-tune/internal/testing/needs"
)

var writeNotice = flag.Bool("write-notice", false, "have TestNotice write NOTICE anew")

// The build command in README.md gives a program that needs no loader and no shared library.
func TestBuildIsStatic(t *testing.T) {
	needs.That(t, runtime.GOOS == "linux", "a program for Linux: run it there")
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	command := regexp.MustCompile(`(?m)^CGO_ENABLED=0 go build .*\./cmd/gpc-tune$`).FindString(string(readme))
	if command == "" {
		t.Fatal("README.md has no command that builds the program")
	}
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil || !bytes.Contains(makefile, []byte("\t"+command+"\n")) {
		t.Errorf("%v: make build does not do %q", err, command)
	}
	cgo, err := exec.Command("go", "env", "CGO_ENABLED").Output()
	needs.That(t, exhaustive.All() || err == nil && string(cgo) == "0\n", "most packages compiled again, without cgo: make test-all, or CGO_ENABLED=0")
	program := filepath.Join(t.TempDir(), "gpc-tune")
	build := exec.Command("sh", "-c", strings.Replace(command, "-o gpc-tune", "-o '"+program+"'", 1))
	build.Dir = "../.."
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", command, err, out)
	}
	f, err := elf.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	libraries, err := f.ImportedLibraries()
	if err != nil || len(libraries) > 0 {
		t.Errorf("%v: it needs the libraries %v", err, libraries)
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP || p.Type == elf.PT_DYNAMIC {
			t.Errorf("it has a segment %v", p.Type)
		}
	}
	if out, err := exec.Command(program, "version").CombinedOutput(); err != nil || !bytes.HasPrefix(out, []byte("gpc-tune ")) {
		t.Errorf("%v: %s", err, out)
	}
}

// module is a module linked into the program.
type module struct {
	Path, Dir string
	Main      bool
}

// linked lists the modules in the program built for an operating system.
func linked(t testing.TB, system string) map[string]string {
	t.Helper()
	c := exec.Command("go", "list", "-deps", "-json=Module", ".")
	c.Env = append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0")
	c.Stderr = os.Stderr
	out, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct{ Module *module }
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		if p.Module != nil && !p.Module.Main {
			all[p.Module.Path] = p.Module.Dir
		}
	}
}

// licences returns the licence texts of a module.
func licences(t testing.TB, module, folder string) (texts []string) {
	t.Helper()
	name := regexp.MustCompile(`(?i)^(un)?licen[cs]e|^copying|^notice|^patents|third_party_licen[cs]es`)
	err := filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		if err != nil || path == folder {
			return err
		}
		within, err := filepath.Rel(folder, path)
		if err != nil || !name.MatchString(within) || strings.HasSuffix(within, ".go") {
			if e.IsDir() {
				return fs.SkipDir
			}
			return err
		}
		if e.IsDir() || filepath.Base(path) == "gpl.txt" { // one of two licences; the other is used
			return nil
		}
		text, err := os.ReadFile(path)
		if !utf8.Valid(text) { // then it is Latin-1
			var decoded []rune
			for _, b := range text {
				decoded = append(decoded, rune(b))
			}
			text = []byte(string(decoded))
		}
		texts = append(texts, strings.TrimSpace(strings.ReplaceAll(string(text), "\r\n", "\n")))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(texts) == 0 {
		t.Errorf("%s comes without a licence", module)
	}
	return texts
}

// bodies are parts that many licences have in common.
var bodies = regexp.MustCompile(`(?s)` + strings.Join([]string{
	`Apache License\s+Version 2\.0, January 2004.*?END OF TERMS AND CONDITIONS`,
	`APPENDIX: How to apply the Apache License.*?third-party archives\.`,
	`Licensed under the Apache License, Version 2\.0.*?limitations under the License\.`,
	`Redistribution and use in source and binary forms.*?SUCH\s+DAMAGE\.`,
	`Permission is hereby granted, free of charge.*?IN\s+THE\s+SOFTWARE\.`,
}, "|"))

// oneLined is a text without the layout of its lines.
func oneLined(text string) string { return strings.Join(strings.Fields(text), " ") }

// notice is NOTICE: the data sets, and the modules of every licence text. A body of two or more
// licences stands once at the end, and its name in brackets in their texts.
func notice(listed string, of map[string][]string) string {
	count, first := map[string]int{}, map[string]string{}
	for _, text := range slices.Sorted(maps.Keys(of)) {
		for _, body := range bodies.FindAllString(text, -1) {
			count[oneLined(body)]++
			first[oneLined(body)] = cmp.Or(first[oneLined(body)], body)
		}
	}
	var common, parts []string
	for _, body := range slices.Sorted(maps.Keys(count)) {
		if count[body] > 1 {
			common = append(common, body)
		}
	}
	for text, modules := range of {
		text = bodies.ReplaceAllStringFunc(text, func(body string) string {
			if i := slices.Index(common, oneLined(body)); i >= 0 {
				return fmt.Sprintf("[Text %d]", i+1)
			}
			return body
		})
		slices.Sort(modules)
		parts = append(parts, "## "+strings.Join(modules, ", ")+"\n\n"+text+"\n")
	}
	slices.Sort(parts)
	for i, body := range common {
		parts = append(parts, fmt.Sprintf("## Text %d\n\n%s\n", i+1, first[body]))
	}
	return "gpc-tune is under the licence in LICENSE. Parts of the program that others have written are under the " +
		"licences below.\nTexts that several licences have in common stand at the end, and their numbers in the " +
		"licences: [Text 1].\nThe fonts Liberation Sans and Liberation Sans Bold, of the module " +
		"codeberg.org/go-fonts/liberation, are under the SIL Open\nFont License; the Go fonts, of " +
		"golang.org/x/image, under the licence of Go.\n\n## Data sets\n\n" + listed + "\n" + strings.Join(parts, "\n")
}

// noticed lists the licence texts in NOTICE by module, each in one line and with its common texts.
func noticed() map[string][]string {
	of := map[string][]string{}
	for _, section := range strings.Split(gpctune.Notice, "\n## ")[1:] {
		names, text, _ := strings.Cut(section, "\n")
		for _, name := range strings.Split(names, ", ") {
			of[name] = append(of[name], oneLined(text))
		}
	}
	for name, texts := range of {
		for i := range texts {
			texts[i] = regexp.MustCompile(`\[(Text \d+)\]`).ReplaceAllStringFunc(texts[i], func(body string) string {
				return strings.Join(of[strings.Trim(body, "[]")], "")
			})
		}
		of[name] = texts
	}
	return of
}

// NOTICE has the licence of every module linked into the program, and the source of every data set.
func TestNotice(t *testing.T) {
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	systems := []string{runtime.GOOS}
	if *writeNotice {
		systems = []string{"linux", "darwin", "windows"}
	}
	of := map[string][]string{} // modules, by text
	add := func(module, folder string) {
		for _, text := range licences(t, module, folder) {
			if !slices.Contains(of[text], module) {
				of[text] = append(of[text], module)
			}
		}
	}
	add("Go", strings.TrimSpace(string(goroot)))
	for _, system := range systems {
		for module, folder := range linked(t, system) {
			add(module, folder)
		}
	}
	var listed strings.Builder
	for _, s := range sets.Table {
		if s.Train != "" {
			fmt.Fprintf(&listed, "%s: %s. Licence: %s\n", s.Name, s.Citation, s.Licence)
		}
	}
	if *writeNotice {
		if err := os.WriteFile("../../NOTICE", []byte(notice(listed.String(), of)), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	known := noticed()
	for text, modules := range of {
		for _, m := range modules {
			if !slices.Contains(known[m], oneLined(text)) {
				t.Errorf("NOTICE has no licence of %s like the one it comes with: make notice", m)
			}
		}
	}
	if len(gpctune.Notice) > 70_000 {
		t.Errorf("NOTICE has %d bytes: a text that many licences have belongs into bodies", len(gpctune.Notice))
	}
	if !strings.Contains(gpctune.Notice, "\n"+listed.String()) {
		t.Error("NOTICE does not have the data sets as they are: make notice")
	}
}
