// Package kubernetes has the test of the manifests against the schemas of Kubernetes.
package kubernetes

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// release is the release of Kubernetes whose OpenAPI documents are the schemas, and sum the
// checksum of its module. What kubeconform reads is made from the same documents.
const (
	release = "k8s.io/kubernetes@v1.34.1"
	sum     = "h1:F3p8dtpv+i8zQoebZeK5zBqM1g9x1aIdnA5vthvcuUk="
)

// unreachable matches errors of a machine that has no way to the module.
var unreachable = regexp.MustCompile(`dial tcp|no such host|lookup disabled|timeout`)

// documents returns the directory of the OpenAPI documents.
func documents(t *testing.T) string {
	t.Helper()
	cmd := exec.Command("go", "mod", "download", "-json", release)
	cmd.Dir = t.TempDir() // no module needs it
	out, err := cmd.Output()
	var module struct{ Dir, Sum, Error string }
	require.NoError(t, json.Unmarshal(out, &module), "%s", out)
	if unreachable.MatchString(module.Error) {
		t.Skip("the schemas cannot be fetched: " + module.Error)
	}
	require.NoError(t, err, module.Error)
	require.Equal(t, sum, module.Sum)
	return filepath.Join(module.Dir, "api", "openapi-spec", "v3")
}

// refuseUnknown makes schemas refuse fields that they do not name, as kubeconform -strict does.
func refuseUnknown(x any) {
	switch x := x.(type) {
	case map[string]any:
		_, object := x["properties"].(map[string]any)
		if _, open := x["additionalProperties"]; object && !open {
			x["additionalProperties"] = false
		}
		for _, v := range x {
			refuseUnknown(v)
		}
	case []any:
		for _, v := range x {
			refuseUnknown(v)
		}
	}
}

// kinds are the documents and the names of the schemas of kinds of objects.
var kinds = map[string]struct{ document, schema string }{
	"v1 Service":                    {"api__v1", "io.k8s.api.core.v1.Service"},
	"v1 ConfigMap":                  {"api__v1", "io.k8s.api.core.v1.ConfigMap"},
	"apps/v1 StatefulSet":           {"apis__apps__v1", "io.k8s.api.apps.v1.StatefulSet"},
	"policy/v1 PodDisruptionBudget": {"apis__policy__v1", "io.k8s.api.policy.v1.PodDisruptionBudget"},
	"batch/v1 Job":                  {"apis__batch__v1", "io.k8s.api.batch.v1.Job"},
}

// schemas returns the schemas of kinds.
func schemas(t *testing.T) map[string]*jsonschema.Schema {
	t.Helper()
	dir := documents(t)
	compiler := jsonschema.NewCompiler()
	known := map[string]*jsonschema.Schema{}
	for kind, at := range kinds {
		b, err := os.ReadFile(filepath.Join(dir, at.document+"_openapi.json"))
		require.NoError(t, err)
		document, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
		require.NoError(t, err)
		refuseUnknown(document.(map[string]any)["components"])
		url := "https://schemas/" + at.schema
		require.NoError(t, compiler.AddResource(url, document))
		known[kind], err = compiler.Compile(url + "#/components/schemas/" + at.schema)
		require.NoError(t, err)
	}
	return known
}

// validate checks an object against the schema of its kind.
func validate(t *testing.T, known map[string]*jsonschema.Schema, manifest string) error {
	t.Helper()
	b, err := yaml.YAMLToJSONStrict([]byte(manifest))
	require.NoError(t, err)
	var head struct{ APIVersion, Kind string }
	require.NoError(t, json.Unmarshal(b, &head))
	schema := known[head.APIVersion+" "+head.Kind]
	require.NotNil(t, schema, "%v", head)
	object, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
	require.NoError(t, err)
	return schema.Validate(object)
}

func TestTheManifestsFollowTheSchemas(t *testing.T) {
	known := schemas(t)
	all, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), ".")
	require.NoError(t, err)
	job, err := os.ReadFile("../campaign/job.yaml")
	require.NoError(t, err)
	manifests := []string{string(job)}
	for _, r := range all.Resources() {
		b, err := r.AsYAML()
		require.NoError(t, err)
		manifests = append(manifests, string(b))
	}
	require.Len(t, manifests, len(kinds))
	for _, m := range manifests {
		require.NoError(t, validate(t, known, m), m)
	}

	// The schemas notice what is wrong.
	for _, c := range []struct{ of, from, to string }{
		{"StatefulSet", "replicas: 3", "replicas: three"},
		{"StatefulSet", "serviceName:", "servicename:"},
		{"StatefulSet", "containerPort: 7001", "containerPort: 7001.5"},
		{"StatefulSet", "topologyKey: kubernetes.io/hostname", "weight: 1"},
		{"Service", "clusterIP: None", "clusterIP: [None]"},
		{"PodDisruptionBudget", "maxUnavailable: 1", "maxUnavailable: true"},
		{"Job", "backoffLimitPerIndex: 1", "backoffLimitPerIndex: '1'"},
	} {
		tried := false
		for _, m := range manifests {
			if strings.Contains(m, "kind: "+c.of+"\n") {
				require.Contains(t, m, c.from)
				require.Error(t, validate(t, known, strings.Replace(m, c.from, c.to, 1)), c.to)
				tried = true
			}
		}
		require.True(t, tried, c.of)
	}
}
