package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// held returns a handler that answers as next does, and fails the test if the document
// does not allow a request's parameters or its answer. All servers of the tests of this
// package are held to the document in this way.
func held(t *testing.T, next http.Handler) http.Handler {
	d := readDocument(t)
	return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		op, known := d.Paths[q.URL.Path][strings.ToLower(q.Method)]
		if !known {
			next.ServeHTTP(w, q)
			return
		}
		seen := &recorder{ResponseWriter: w, code: http.StatusOK}
		next.ServeHTTP(seen, q)
		if q.Context().Err() != nil {
			return // the client has not waited for the answer
		}
		for _, fault := range d.faults(&op, q, seen) {
			t.Errorf("%s %s: %s", q.Method, q.URL, fault)
		}
	})
}

// recorder keeps a copy of an answer that is no stream.
type recorder struct {
	http.ResponseWriter
	code int
	body bytes.Buffer
}

func (r *recorder) WriteHeader(code int) {
	r.code = code
	r.ResponseWriter.WriteHeader(code)
}

func (r *recorder) Write(b []byte) (int, error) {
	if r.kind() == "application/json" {
		r.body.Write(b)
	}
	return r.ResponseWriter.Write(b)
}

func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

func (r *recorder) kind() string {
	kind, _, _ := strings.Cut(r.Header().Get("Content-Type"), ";")
	return kind
}

// faults returns how a request or its answer contradicts the document.
func (d *document) faults(op *operation, q *http.Request, got *recorder) (out []string) {
	if got.code == http.StatusRequestEntityTooLarge {
		return nil // every path may answer that, as the document's introduction says
	}
	res, documented := op.Responses[strconv.Itoa(got.code)]
	if !documented {
		return []string{fmt.Sprintf("the status %d is not documented: %s", got.code, got.body.String())}
	}
	if got.code < 300 {
		for name := range q.URL.Query() {
			if !slices.ContainsFunc(op.Parameters, func(p parameter) bool { return p.Name == name && p.In == "query" }) {
				out = append(out, fmt.Sprintf("the parameter %s is not documented", name))
			}
		}
	}
	content, found := res.Content[got.kind()]
	if !found {
		return append(out, fmt.Sprintf("the media type %q of the status %d is not documented", got.kind(), got.code))
	}
	if got.kind() != "application/json" {
		return out
	}
	var v any
	if err := json.Unmarshal(got.body.Bytes(), &v); err != nil {
		return append(out, err.Error())
	}
	return append(out, d.mistakes("answer", content.Schema, v)...)
}

// mistakes returns how a value contradicts a schema.
func (d *document) mistakes(where string, s *schema, v any) (out []string) {
	if name, ok := strings.CutPrefix(s.Ref, "#/components/schemas/"); ok {
		s = d.Parts.Schemas[name]
	}
	bad := func(format string, args ...any) { out = append(out, where+fmt.Sprintf(format, args...)) }
	kinds, _ := s.Type.([]any)
	if kind, ok := s.Type.(string); ok {
		kinds = []any{kind}
	}
	if kind := kindOf(v); !slices.Contains(kinds, any(kind)) {
		bad(" is of the type %s, not %v", kind, kinds)
		return out
	}
	switch v := v.(type) {
	case map[string]any:
		for _, name := range s.Required {
			if _, found := v[name]; !found {
				bad(" has no %s", name)
			}
		}
		for name, x := range v {
			p := s.Properties[name]
			if p == nil {
				p = s.Additional
			}
			if p == nil {
				bad(" has the field %s, which is not documented", name)
				continue
			}
			out = append(out, d.mistakes(where+"."+name, p, x)...)
		}
	case []any:
		for _, x := range v {
			out = append(out, d.mistakes(where+"[]", s.Items, x)...)
		}
	case string:
		if len(s.Enum) > 0 && !slices.Contains(s.Enum, v) {
			bad(" is %q, which is not documented", v)
		}
	}
	return out
}

// kindOf returns the name that a value's type has in a schema. All numbers are integers.
func kindOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case float64:
		return "integer"
	case []any:
		return "array"
	}
	return "object"
}

func TestTheDocumentNoticesOtherAnswers(t *testing.T) {
	d := readDocument(t)
	leader := &schema{Ref: "#/components/schemas/Leader"}
	sound := func() map[string]any {
		b, err := json.Marshal(Leader{Support: []int{1}})
		require.NoError(t, err)
		var v map[string]any
		require.NoError(t, json.Unmarshal(b, &v))
		return v
	}
	require.Empty(t, d.mistakes("leader", leader, sound()))
	for want, change := range map[string]func(map[string]any){
		"leader has no leads":                                 func(v map[string]any) { delete(v, "leads") },
		"leader has the field mood, which is not documented":  func(v map[string]any) { v["mood"] = "good" },
		"leader.leads is of the type string, not [boolean]":   func(v map[string]any) { v["leads"] = "yes" },
		"leader.support[] is of the type null, not [integer]": func(v map[string]any) { v["support"] = []any{nil} },
		"leader.support is of the type null, not [array]":     func(v map[string]any) { v["support"] = nil },
	} {
		v := sound()
		change(v)
		require.Equal(t, []string{want}, d.mistakes("leader", leader, v))
	}
	op := d.Paths["/v1/leader"]["get"]
	answer := &recorder{ResponseWriter: discard{}, code: http.StatusTeapot}
	q, err := http.NewRequest(http.MethodGet, "/v1/leader?mood=good", nil)
	require.NoError(t, err)
	require.Contains(t, d.faults(&op, q, answer)[0], "the status 418 is not documented")
	answer.code = http.StatusOK
	require.Contains(t, d.faults(&op, q, answer)[0], "the parameter mood is not documented")
}

// discard is an answer that nobody reads.
type discard struct{}

func (discard) Header() http.Header         { return http.Header{} }
func (discard) Write(b []byte) (int, error) { return len(b), nil }
func (discard) WriteHeader(int)             {}
