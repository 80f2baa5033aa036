package submit

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/gpc-tune/gpc-tune/internal/strictyaml"
)

// kubernetesAPI returns the schema of the cluster's API types.
func kubernetesAPI(t testing.TB) *jsonschema.Schema {
	t.Helper()
	text, err := os.ReadFile("testdata/kubernetes.json")
	if err != nil {
		t.Fatal(err)
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("schema.json", document); err != nil {
		t.Fatal(err)
	}
	return c.MustCompile("schema.json")
}

// What is sent to the cluster has the types of its API, and nothing that it does not know.
func TestKubernetesAPI(t *testing.T) {
	schema := kubernetesAPI(t)
	r := twoWaves(t)
	mount := filepath.Dir(r.Dir)
	for _, e := range []*kubernetes{
		{image: "example.org/gpc-tune:1", claim: "study", mount: mount},
		{image: "example.org/gpc-tune:1", claim: "study", mount: mount, namespace: "lab", storage: "10Gi", memory: "2Gi", parallelism: 2},
	} {
		var dry bytes.Buffer
		r.DryRun, r.Out = true, &dry
		if done, err := e.Submit(t.Context(), r); done || err != nil {
			t.Fatal(done, err)
		}
		kinds := map[any]int{}
		for d := strictyaml.NewDecoder(&dry); ; {
			var node strictyaml.Node
			if err := d.Decode(&node); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			var object map[string]any
			if err := node.Decode(&object); err != nil {
				t.Fatal(err)
			}
			kinds[object["kind"]]++
			text, err := json.Marshal(object) // the object as the cluster stores it
			if err != nil {
				t.Fatal(err)
			}
			value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
			if err != nil {
				t.Fatal(err)
			}
			if err := schema.Validate(value); err != nil {
				t.Errorf("%s: %v", text, err)
			}
		}
		if volumes := kinds["PersistentVolumeClaim"]; kinds["Job"] < 3 || (volumes == 1) != (e.storage != "") {
			t.Errorf("%v", kinds)
		}
	}
}

// The schema rejects whatever the API does not have.
func TestKubernetesAPIRefuses(t *testing.T) {
	schema := kubernetesAPI(t)
	for text, valid := range map[string]bool{
		`{"apiVersion": "batch/v1", "kind": "Job", "spec": {"completions": 2, "template": {}}}`:                                  true,
		`{"apiVersion": "batch/v1", "kind": "Job", "spec": {"completion": 2, "template": {}}}`:                                   false,
		`{"apiVersion": "batch/v1", "kind": "Job", "spec": {"completions": "2", "template": {}}}`:                                false,
		`{"apiVersion": "batch/v1", "kind": "Job", "spec": {"completionMode": "indexed", "template": {}}}`:                       false,
		`{"apiVersion": "batch/v1", "kind": "Job", "spec": {"completions": 2}}`:                                                  false,
		`{"apiVersion": "v1", "kind": "Job", "spec": {"template": {}}}`:                                                          false,
		`{"apiVersion": "v1", "kind": "PersistentVolumeClaim", "spec": {"resources": {"requests": {"storage": "10Gi"}}}}`:        true,
		`{"apiVersion": "v1", "kind": "PersistentVolumeClaim", "spec": {"resources": {"requests": {"storage": "10 gigabyte"}}}}`: false,
		`{"apiVersion": "v1", "kind": "PersistentVolumeClaim", "spec": {"accessModes": ["ReadWrite"]}}`:                          false,
	} {
		value, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(value); (err == nil) != valid {
			t.Errorf("%s: %v", text, err)
		}
	}
}
