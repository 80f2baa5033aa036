package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/internal/build"
	"github.com/gpc-tune/gpc-tune/internal/testing/needs"
)

const python = "../../clients/python"

func TestPythonVersion(t *testing.T) {
	for module, want := range map[string]string{ // as in PEP 440
		"v1.2.3": "1.2.3", "v1.2.3-rc.1": "1.2.3rc1", "v1.2.3-devel": "1.2.3.dev0", "(devel)": "0.0.0", "": "0.0.0",
		"v0.0.0-20260203040506-0123456789ab":   "0.0.0.dev20260203040506+g0123456789ab",
		"v1.2.4-0.20260203040506-0123456789ab": "1.2.4.dev20260203040506+g0123456789ab",
	} {
		if got := pythonVersion(module); got != want {
			t.Errorf("%s: %s, want %s", module, got, want)
		}
	}
}

// Every platform of a release has a wheel, with the program and the sources, and without tests.
func TestWheels(t *testing.T) {
	for target := range strings.FieldsSeq(targets) {
		name, files, err := wheel("v1.2.3", target, python, file{"gpc-tune", 0o755, []byte("program")})
		if err != nil || !strings.HasPrefix(name, "gpc_tune-1.2.3-py3-none-") || platforms[target] == "" ||
			!strings.HasSuffix(name, platforms[target]+".whl") {
			t.Errorf("%s: %s, %v", target, name, err)
		}
		all := map[string]string{}
		for _, f := range files {
			all[f.name] = string(f.text)
		}
		const info = "gpc_tune-1.2.3.dist-info/"
		for name, has := range map[string]string{"gpc_tune/__init__.py": "", "gpc_tune/py.typed": "", "gpc_tune/bin/gpc-tune": "program",
			info + "METADATA": "\nName: gpc-tune\nVersion: 1.2.3\nSummary: Gaussian-process", info + "licenses/LICENSE": "Redistribution",
			// the digest is that of `printf program | openssl dgst -sha256 -binary | basenc --base64url`
			info + "RECORD": "gpc_tune/bin/gpc-tune,sha256=ExDKLIky29EYZovZdEJVij4fVGteFcaWmd-9YCT1SNg,7\n"} {
			if text, is := all[name]; !is || !strings.Contains(text, has) {
				t.Errorf("%s: %s has %q, want %q", target, name, text, has)
			}
		}
		if strings.Count(all[info+"RECORD"], "\n") != len(files) {
			t.Errorf("%d files: %s", len(files), all[info+"RECORD"])
		}
	}
}

// An environment with the wheel and numpy alone, without a network, fits and predicts.
func TestWheelInAFreshEnvironment(t *testing.T) {
	const system = "/usr/bin/python3"
	needs.That(t, exec.Command(system, "-c", "import numpy, pip, venv").Run() == nil,
		"%s with numpy, pip and venv: install the Debian packages python3-numpy, python3-pip and python3-venv", system)
	dir := t.TempDir()
	command := func(name string, args ...string) string {
		t.Helper()
		c := exec.Command(name, args...)
		c.Dir = dir
		c.Env = append(os.Environ(), "PATH=/usr/bin:/bin", "PYTHONPATH=", "GPC_TUNE_PROGRAM=")
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %q: %v\n%s", name, args, err, out)
		}
		return string(out)
	}
	program := filepath.Join(dir, "gpc-tune")
	// Test binaries carry no revision, so the program has none either: both then name one version.
	if out, err := exec.Command("go", "build", "-buildvcs=false", "-ldflags=-s -w", "-o", program,
		"../../cmd/gpc-tune").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	text, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	target := strings.TrimSpace(command("go", "env", "GOOS")) + "/" + strings.TrimSpace(command("go", "env", "GOARCH"))
	name, files, err := wheel(build.Version(), target, python, file{"gpc-tune", 0o755, text})
	if err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	if err := zipped(&packed, "", when, files); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name), packed.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	command(system, "-m", "venv", "--system-site-packages", "--without-pip", "fresh")
	command("fresh/bin/python", "-m", "pip", "install", "--no-index", name)
	out := command("fresh/bin/python", "-c", "import sys; sys.modules['sklearn'] = sys.modules['pandas'] = None\n"+
		"import gpc_tune, importlib.metadata\nm = gpc_tune.GaussianProcessClassifier().fit([[float(i)] for i in range(12)], ['a'] * 6 + ['b'] * 6)\n"+
		"print(*m.predict([[0.5], [9.5]]), gpc_tune.__version__, importlib.metadata.version('gpc-tune'), m.score([[0.5], [11.]], ['a', 'a']))")
	if v := pythonVersion(build.Version()); strings.TrimSpace(out) != "a b "+v+" "+v+" 0.5" {
		t.Error(out)
	}
}
