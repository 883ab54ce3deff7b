package api

import (
	"net/http"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// document is the part of docs/openapi.yaml that the test reads.
type document struct {
	OpenAPI string                          `yaml:"openapi"`
	Paths   map[string]map[string]operation `yaml:"paths"`
	Parts   struct {
		Schemas map[string]*schema `yaml:"schemas"`
	} `yaml:"components"`
}

type operation struct {
	ID         string      `yaml:"operationId"`
	Summary    string      `yaml:"summary"`
	Parameters []parameter `yaml:"parameters"`
	Responses  map[string]struct {
		Description string `yaml:"description"`
		Content     map[string]struct {
			Schema *schema `yaml:"schema"`
		} `yaml:"content"`
	} `yaml:"responses"`
}

type parameter struct {
	Name     string `yaml:"name"`
	In       string `yaml:"in"`
	Required bool   `yaml:"required"`
	Empty    bool   `yaml:"allowEmptyValue"`
	Schema   schema `yaml:"schema"`
}

type schema struct {
	Ref         string             `yaml:"$ref"`
	Type        any                `yaml:"type"` // a name, or two of which one is "null"
	Format      string             `yaml:"format"`
	Description string             `yaml:"description"`
	Required    []string           `yaml:"required"`
	Properties  map[string]*schema `yaml:"properties"`
	Items       *schema            `yaml:"items"`
	Additional  *schema            `yaml:"additionalProperties"`
	Enum        []string           `yaml:"enum"`
}

// docs/reference/api.md names every path; the key-value store has a page of its own.
func TestThePageNamesEveryPath(t *testing.T) {
	page, err := os.ReadFile("../../docs/reference/api.md")
	require.NoError(t, err)
	for path := range readDocument(t).Paths {
		if !strings.HasPrefix(path, "/v1/kv/") {
			require.Contains(t, string(page), path)
		}
	}
}

func readDocument(t *testing.T) *document {
	t.Helper()
	b, err := os.ReadFile("../../docs/openapi.yaml")
	require.NoError(t, err)
	var d document
	require.NoError(t, yaml.Unmarshal(b, &d))
	require.True(t, strings.HasPrefix(d.OpenAPI, "3.1."))
	return &d
}

// answers are the types of all answers that the document must name.
var answers = []any{Leader{}, Hold{}, Global{}, Verification{}, View{}, Member{}, Clock{}, Members{}, MemberInfo{}, Status{}, Join{}, Bounds{}, Timing{},
	Lateness{}, Sources{}, Source{}, History{}, ClockPoint{}, Event{}, Branch{}, Sent{}, Delivery{}, Done{}, Epoch{}, Edict{}, Keys{}, PeerKeys{}, Why{}, Cause{}, Failure{}, Health{},
	KVFresh{}, KVItem{}, KVGet{}, KVList{}, KVWrite{}, KVCommand{}, KVBatch{}, KVResult{}, KVSession{}, KVLease{}, KVConflicts{}, KVConflict{}, KVStatus{}, KVChange{}}

func TestDocumentHasEveryPathAndNoOther(t *testing.T) {
	d := readDocument(t)
	require.Len(t, d.Paths, len(routes))
	ids := map[string]bool{} // what generated clients name the operations
	for _, r := range routes {
		op, found := d.Paths[r.path][strings.ToLower(r.method)]
		require.True(t, found, r.path)
		require.Len(t, d.Paths[r.path], 1, r.path)
		require.NotEmpty(t, op.Summary, r.path)
		require.NotEmpty(t, op.ID, r.path)
		require.False(t, ids[op.ID], op.ID)
		ids[op.ID] = true
		for code, res := range op.Responses {
			require.NotEmpty(t, res.Description, r.path)
			for _, content := range res.Content {
				ref := strings.TrimPrefix(content.Schema.Ref, "#/components/schemas/")
				if ref != "" {
					require.Contains(t, d.Parts.Schemas, ref, r.path+" "+code)
				}
			}
		}
	}
	require.Equal(t, http.MethodGet, routes[0].method)
}

func TestDocumentHasEveryFieldAndNoOther(t *testing.T) {
	d := readDocument(t)
	require.Len(t, d.Parts.Schemas, len(answers))
	for _, a := range answers {
		typ := reflect.TypeOf(a)
		s := d.Parts.Schemas[typ.Name()]
		require.NotNil(t, s, typ.Name())
		require.Equal(t, "object", s.Type, typ.Name())
		var required []string
		fields := 0
		for f := range typ.Fields() {
			name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
			where := typ.Name() + "." + name
			fields++
			p := s.Properties[name]
			require.NotNil(t, p, where)
			optional := options == "omitempty" || options == "omitzero"
			check(t, where, p, f.Type, optional)
			if !optional {
				required = append(required, name)
			}
			if strings.HasSuffix(name, "_ns") {
				require.Equal(t, "int64", p.Format, where)
			}
		}
		require.Len(t, s.Properties, fields, typ.Name())
		require.ElementsMatch(t, required, s.Required, typ.Name())
	}
}

// check compares a schema with the type of a field.
func check(t *testing.T, where string, s *schema, typ reflect.Type, optional bool) {
	t.Helper()
	if typ.Kind() == reflect.Pointer {
		check(t, where, &schema{Type: nonNull(t, where, s.Type, !optional), Format: s.Format, Ref: s.Ref}, typ.Elem(), true)
		return
	}
	switch {
	case typ == reflect.TypeFor[time.Time]():
		require.Equal(t, "string", s.Type, where)
		require.Equal(t, "date-time", s.Format, where)
	case typ.Kind() == reflect.Struct:
		require.Equal(t, "#/components/schemas/"+typ.Name(), s.Ref, where)
	case typ == reflect.TypeFor[[]byte]():
		require.Equal(t, "string", s.Type, where)
		require.Equal(t, "byte", s.Format, where)
	case typ.Kind() == reflect.Slice:
		require.Equal(t, "array", s.Type, where)
		check(t, where, s.Items, typ.Elem(), true)
	case typ.Kind() == reflect.Map:
		require.Equal(t, "object", s.Type, where)
		check(t, where, s.Additional, typ.Elem(), true)
	case typ.Kind() == reflect.String:
		require.Equal(t, "string", s.Type, where)
	case typ.Kind() == reflect.Bool:
		require.Equal(t, "boolean", s.Type, where)
	default:
		require.Equal(t, "integer", s.Type, where)
	}
}

// nonNull returns the type besides null, and requires null if it is possible.
func nonNull(t *testing.T, where string, typ any, nullable bool) any {
	t.Helper()
	if !nullable {
		return typ
	}
	list, ok := typ.([]any)
	require.True(t, ok && len(list) == 2 && list[1] == "null", where)
	return list[0]
}
