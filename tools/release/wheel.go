package main

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// platforms are the tags of Python for systems and processors: the Linux program is linked
// statically, so any C library will do, and Go needs this macOS.
var platforms = map[string]string{
	"linux/amd64":   "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64",
	"linux/arm64":   "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64",
	"darwin/amd64":  "macosx_12_0_x86_64",
	"darwin/arm64":  "macosx_12_0_arm64",
	"windows/amd64": "win_amd64",
	"windows/arm64": "win_arm64",
}

// modules are versions of Go modules: a release, a release candidate, a commit with its time, or
// sources without a version.
var modules = regexp.MustCompile(`^v(\d+\.\d+\.\d+)(?:-(?:0\.)?(\d{14})-([0-9a-f]{12})|-rc\.?(\d+)|-(devel))?$`)

// pythonVersion is the version of a module in the notation of Python (PEP 440), as in
// clients/python/gpc_tune/__init__.py.
func pythonVersion(module string) string {
	m := modules.FindStringSubmatch(module)
	switch {
	case m == nil:
		return "0.0.0"
	case m[2] != "":
		return fmt.Sprintf("%s.dev%s+g%s", m[1], m[2], m[3])
	case m[4] != "":
		return m[1] + "rc" + m[4]
	case m[5] != "":
		return m[1] + ".dev0"
	}
	return m[1]
}

// wheel returns the name and the files of the wheel of a platform: the package in a folder of
// Python, with the program, as in the specification of binary distributions
// (https://packaging.python.org/specifications/binary-distribution-format).
func wheel(version, platform, python string, program file) (name string, files []file, err error) {
	metadata, err := os.ReadFile(filepath.Join(python, "pyproject.toml"))
	if err != nil {
		return "", nil, err
	}
	field := func(key string) string {
		_, rest, _ := strings.Cut(string(metadata), "\n"+key+" = \"")
		value, _, _ := strings.Cut(rest, "\"\n")
		return value
	}
	sources, err := os.ReadDir(filepath.Join(python, "gpc_tune"))
	if err != nil {
		return "", nil, err
	}
	for _, f := range sources {
		if ext := filepath.Ext(f.Name()); ext == ".py" || ext == ".typed" {
			text, err := os.ReadFile(filepath.Join(python, "gpc_tune", f.Name()))
			if err != nil {
				return "", nil, err
			}
			files = append(files, file{"gpc_tune/" + f.Name(), 0o644, text})
		}
	}
	files = append(files, file{"gpc_tune/bin/" + program.name, 0o755, program.text})
	version = pythonVersion(version)
	info, tag := "gpc_tune-"+version+".dist-info/", "py3-none-"+platforms[platform]
	for _, name := range []string{"LICENSE", "NOTICE"} {
		text, err := os.ReadFile(filepath.Join(python, "..", "..", name))
		if err != nil {
			return "", nil, err
		}
		files = append(files, file{path.Join(info, "licenses", name), 0o644, text})
	}
	tags := ""
	for platform := range strings.SplitSeq(platforms[platform], ".") {
		tags += "Tag: py3-none-" + platform + "\n"
	}
	files = append(files,
		file{info + "METADATA", 0o644, fmt.Appendf(nil, "Metadata-Version: 2.1\nName: gpc-tune\nVersion: %s\n"+
			"Summary: %s\nLicense: BSD-3-Clause\nRequires-Python: %s\nRequires-Dist: numpy\n"+
			"Provides-Extra: sklearn\nRequires-Dist: scikit-learn; extra == 'sklearn'\n"+
			"Requires-Dist: pandas; extra == 'sklearn'\n", version, field("description"), field("requires-python"))},
		file{info + "WHEEL", 0o644, []byte("Wheel-Version: 1.0\nGenerator: gpc-tune\nRoot-Is-Purelib: false\n" + tags)})
	var record strings.Builder
	for _, f := range files {
		sum := sha256.Sum256(f.text)
		fmt.Fprintf(&record, "%s,sha256=%s,%d\n", f.name, base64.RawURLEncoding.EncodeToString(sum[:]), len(f.text))
	}
	fmt.Fprintf(&record, "%sRECORD,,\n", info)
	return "gpc_tune-" + version + "-" + tag + ".whl", append(slices.Clip(files),
		file{info + "RECORD", 0o644, []byte(record.String())}), nil
}
