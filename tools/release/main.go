// Release builds the archives of a release: for every system and processor the program, linked
// statically, with its licences, README.md, Dockerfile, manual pages and completions, and the wheel
// of the package for Python, and a list of their SHA-256 checksums. The same commit built by the
// same Go release gives the same bytes.
package main

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"debug/buildinfo"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/gpc-tune/gpc-tune/internal/build"
)

// targets are the systems and processors of a release.
const targets = "linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64"

func main() {
	out := flag.String("o", "dist", "folder of the archives")
	only := flag.String("targets", targets, "systems and processors, as in linux/amd64")
	flag.Parse()
	if err := release(*out, strings.Fields(*only)); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// release writes one archive for each target to a folder, and the list of checksums.
func release(out string, targets []string) error {
	temporary, err := os.MkdirTemp("", "gpc-tune-release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temporary)
	host := filepath.Join(temporary, "host")
	if err := compile(host, runtime.GOOS+"/"+runtime.GOARCH); err != nil {
		return err
	}
	info, err := buildinfo.ReadFile(host)
	if err != nil {
		return err
	}
	revision, committed, changed := build.Stamp(info)
	if revision == "" || changed {
		return errors.New("the sources must be a clone without uncommitted changes or new files (git status), " +
			"so that the program knows its commit; Go does not see the commit of an additional work tree " +
			"(git worktree)")
	}
	at, err := time.Parse(time.RFC3339, committed)
	if err != nil {
		return err
	}
	common, err := documents(host, temporary)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o777); err != nil {
		return err
	}
	var sums strings.Builder
	for _, target := range targets {
		program := filepath.Join(temporary, "program")
		if err := compile(program, target); err != nil {
			return err
		}
		text, err := os.ReadFile(program)
		if err != nil {
			return err
		}
		system, processor, _ := strings.Cut(target, "/")
		stem := fmt.Sprintf("gpc-tune_%s_%s_%s", cmp.Or(info.Main.Version, revision), system, processor)
		name, write, pack := stem+".tar.gz", "gpc-tune", tarball
		if system == "windows" {
			name, write, pack = stem+".zip", "gpc-tune.exe", zipped
		}
		var archive bytes.Buffer
		if err := pack(&archive, stem, at, append([]file{{write, 0o755, text}}, common...)); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(out, name), archive.Bytes(), 0o666); err != nil {
			return err
		}
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(archive.Bytes()), name)
		name, files, err := wheel(info.Main.Version, target, "clients/python", file{write, 0o755, text})
		if err != nil {
			return err
		}
		archive.Reset()
		if err := zipped(&archive, "", at, files); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(out, name), archive.Bytes(), 0o666); err != nil {
			return err
		}
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(archive.Bytes()), name)
	}
	fmt.Printf("%s%s in %s\n", sums.String(), info.GoVersion, out)
	return os.WriteFile(filepath.Join(out, "SHA256SUMS"), []byte(sums.String()), 0o666)
}

// compile builds the program for a target, independently of this machine and its settings.
func compile(program, target string) error {
	system, processor, ok := strings.Cut(target, "/")
	if !ok {
		return fmt.Errorf("target %q: say a system and a processor, as in linux/amd64", target)
	}
	c := exec.Command("go", "build", "-trimpath", "-buildvcs=true", "-ldflags=-s -w", "-o", program, "./cmd/gpc-tune")
	c.Env = append(os.Environ(), "GOOS="+system, "GOARCH="+processor, "CGO_ENABLED=0", "GOAMD64=v1", "GOARM64=v8.0",
		"GOEXPERIMENT=", "GOFLAGS=", "GOFIPS140=off", "GOWORK=off")
	if said, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("go build for %s: %w\n%s", target, err, said)
	}
	return nil
}

// documents returns the files that all archives share. The program of this machine writes the
// manual pages and completions.
func documents(program, temporary string) (files []file, err error) {
	for _, name := range []string{"LICENSE", "NOTICE", "README.md", "Dockerfile"} {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		files = append(files, file{name, 0o644, text})
	}
	for shell, name := range map[string]string{"bash": "gpc-tune.bash", "zsh": "_gpc-tune", "fish": "gpc-tune.fish",
		"powershell": "gpc-tune.ps1"} {
		text, err := exec.Command(program, "completion", shell).Output()
		if err != nil {
			return nil, fmt.Errorf("gpc-tune completion %s: %w", shell, err)
		}
		files = append(files, file{"completions/" + name, 0o644, text})
	}
	pages := filepath.Join(temporary, "man1")
	if said, err := exec.Command(program, "man", "-o", pages).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("gpc-tune man: %w\n%s", err, said)
	}
	entries, err := os.ReadDir(pages)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(pages, e.Name()))
		if err != nil {
			return nil, err
		}
		files = append(files, file{"man/man1/" + e.Name(), 0o644, text})
	}
	slices.SortFunc(files, func(a, b file) int { return cmp.Compare(a.name, b.name) })
	return files, nil
}
