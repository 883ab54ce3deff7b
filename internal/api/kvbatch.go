package api

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/failaware/failaware/internal/kv"
)

// Limits of a batch.
const (
	// MaxBatch is how many commands a batch has at most.
	MaxBatch = 128
	// MaxBatchBytes is the limit of its JSON, which the largest value fits into.
	MaxBatchBytes = 1 << 20
)

// kvBatch carries out commands that have nothing to do with each other, as if as many clients
// had sent them at once. If one of them is malformed, none is carried out.
func (s *Server) kvBatch(ctx context.Context, w http.ResponseWriter, q *http.Request) error {
	list, err := batchOf(q.Body)
	if err != nil {
		return badRequest{err}
	}
	a := KVBatch{Results: make([]KVResult, len(list))}
	var all sync.WaitGroup
	for i := range list {
		all.Go(func() { a.Results[i] = s.resultOf(ctx, &list[i]) })
	}
	all.Wait()
	Answer(w, http.StatusOK, a)
	return nil
}

// resultOf carries out one command of a batch.
func (s *Server) resultOf(ctx context.Context, b *batched) KVResult {
	code, a, err := s.carryOut(ctx, b.command, b.in)
	if err != nil {
		return KVResult{Code: kvCode(err), Error: err.Error()}
	}
	return KVResult{Code: code, Write: &a, Error: a.Error}
}

// batched is a command of a batch.
type batched struct {
	command kv.Command
	in      Attempt
}

// batchOf reads the commands of a batch.
func batchOf(body io.Reader) ([]batched, error) {
	var request struct {
		Commands []KVCommand `json:"commands"`
	}
	text, err := io.ReadAll(body)
	if err != nil {
		return nil, fmt.Errorf("the body is not a batch: %w", err)
	}
	d := strict(text)
	if err := d.Decode(&request); err != nil {
		return nil, errors.New("the body is not a batch: " + faultOf(text, err))
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("the body has more than a batch")
	}
	if problem := misread(text); problem != "" {
		return nil, fmt.Errorf("the body is not a batch: %s", problem)
	}
	if n := len(request.Commands); n == 0 || n > MaxBatch {
		return nil, fmt.Errorf("commands: there are %d, and a batch has from 1 to %d", n, MaxBatch)
	}
	if KeysReplaced(request.Commands, text) {
		return nil, errors.New(`the body is not a batch: it is not UTF-8, or has half of a surrogate pair`)
	}
	list := make([]batched, len(request.Commands))
	keys := make(map[string]int, len(list))
	for i := range list {
		c := &request.Commands[i]
		var err error
		if list[i], err = c.parse(); err != nil {
			return nil, fmt.Errorf("commands[%d]: %w", i, err)
		}
		if first, twice := keys[c.Key]; twice {
			return nil, fmt.Errorf("commands[%d]: commands[%d] has the same key, and commands of one batch have no order", i, first)
		}
		keys[c.Key] = i
	}
	return list, nil
}

// strict returns a decoder that refuses unknown members: a condition with a wrong name must not
// turn into none.
func strict(text []byte) *json.Decoder {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	return d
}

// faultOf says where and why a text is no batch; err is the error of its decoding.
func faultOf(text []byte, err error) string {
	var request struct{ Commands []json.RawMessage }
	if json.NewDecoder(bytes.NewReader(text)).Decode(&request) == nil {
		for i, c := range request.Commands {
			if err := strict(c).Decode(new(KVCommand)); err != nil {
				return jsonFault(fmt.Sprintf("commands[%d]", i), err)
			}
		}
	}
	return jsonFault("", err)
}

// jsonFault says in words of the API why a JSON object, or the body if it has no name, cannot
// be decoded.
func jsonFault(name string, err error) string {
	in, member := "", name
	if name != "" {
		in, member = name+": ", name+"."
	}
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && e.Field != "" {
		return fmt.Sprintf("%s%s: its type is wrong: %s", member, e.Field, e.Value)
	} else if ok {
		return fmt.Sprintf("%sit is a JSON %s, and not an object", in, e.Value)
	}
	if at, ok := errors.AsType[base64.CorruptInputError](err); ok { // only a value is base64
		return fmt.Sprintf("%svalue: it is not base64: byte %d is wrong", member, at)
	}
	if err == io.EOF {
		return "it is empty"
	}
	return in + strings.TrimPrefix(err.Error(), "json: ")
}

// misread says what the decoder has taken without an error for something else than it is: of a
// member that an object has twice, the last one, and null for nothing, so that a condition could
// turn into none; and a list of numbers for a value. Like the decoder, it makes no difference
// between capitals and small letters.
func misread(text []byte) (problem string) {
	var names [][]byte // of all objects that are open at i
	var begins []int   // where those of each begin
	command := -1      // which of the list is at i
	in := func(format string, args ...any) string {
		if command >= 0 {
			format = fmt.Sprintf("commands[%d]: ", command) + format
		}
		return fmt.Sprintf(format, args...)
	}
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case 'n': // of null: no other word has one
			return in("null is there, and not a value: leave out what is not given")
		case '[':
			if len(begins) > 1 {
				return in("%q is a list", names[len(names)-1])
			}
			command = 0
		case ']':
			command = -1
		case ',':
			if len(begins) == 1 && command >= 0 {
				command++
			}
		case '{':
			begins = append(begins, len(names))
		case '}':
			last := len(begins) - 1
			names, begins = names[:begins[last]], begins[:last]
		case '"':
			s := text[i : i+stringLength(text[i:])]
			i += len(s) - 1
			if !bytes.HasPrefix(bytes.TrimLeft(text[i+1:], " \t\r\n"), []byte(":")) {
				continue // a value
			}
			name := contentOf(s)
			if slices.ContainsFunc(names[begins[len(begins)-1]:], func(n []byte) bool { return bytes.EqualFold(n, name) }) {
				return in("%q is there twice in one object", name)
			}
			names = append(names, name)
		}
	}
	return ""
}

// stringLength returns the length of the JSON string at the beginning of a text.
func stringLength(text []byte) int {
	for i := 1; ; i++ {
		i += bytes.IndexAny(text[i:], `"\`)
		if text[i] == '"' {
			return i + 1
		}
		i++ // what is escaped
	}
}

// contentOf returns the content of a JSON string.
func contentOf(s []byte) []byte {
	if !bytes.ContainsRune(s, '\\') {
		return s[1 : len(s)-1]
	}
	var name string
	_ = json.Unmarshal(s, &name) // it was decoded before
	return []byte(name)
}

// KeysReplaced reports whether the decoder has made other keys of those in a text: it puts
// replacement characters in the places of what is no character.
func KeysReplaced(commands []KVCommand, text []byte) bool {
	replaced := 0 // characters, perhaps
	for i := range commands {
		replaced += strings.Count(commands[i].Key, "\uFFFD")
	}
	return replaced > 0 && replaced != replacements(string(text))
}

// replacements returns how many replacement characters are in the strings of JSON.
func replacements(text string) (n int) {
	for i := 0; i < len(text); i++ {
		rest := text[i:]
		if text[i] == '\\' {
			i++ // a backslash that is escaped begins no escape
		}
		if strings.HasPrefix(rest, "\uFFFD") || len(rest) > 5 && strings.EqualFold(rest[:6], `\ufffd`) {
			n++
		}
	}
	return n
}

// parse returns the command, which has the parameters that it has in a request of its own.
func (c *KVCommand) parse() (b batched, err error) {
	values := url.Values{"key": {c.Key}}
	for name, text := range map[string]*string{"version": c.Version, "ttl": c.TTL, "lease": c.Lease, "session": c.Session} {
		switch {
		case text == nil:
		case *text == "":
			return b, errors.New(name + ": it is empty")
		default:
			values.Set(name, *text)
		}
	}
	if c.Number != nil {
		values.Set("number", strconv.FormatUint(*c.Number, 10))
	}
	switch {
	case c.Op == "put" && c.Value == nil:
		return b, errors.New("value: it is missing")
	case c.Op == "put":
		b.command = kv.Command{Op: kv.Put, Value: c.Value}
	case c.Op == "delete" && (c.Value != nil || c.TTL != nil || c.Lease != nil):
		return b, errors.New("delete has no value, ttl or lease")
	case c.Op == "delete":
		b.command.Op = kv.Delete
	default:
		return b, fmt.Errorf("op: %.40q is not put or delete", c.Op)
	}
	if b.command, err = withParameters(values, b.command); err != nil {
		return b, err
	}
	b.in, err = attemptOf(values)
	return b, err
}

// SubmitBatch has a node carry out commands, and returns their results in the same order. The
// error says that nothing is known of any of them.
func (c *Client) SubmitBatch(ctx context.Context, query url.Values, commands []KVCommand) ([]KVResult, error) {
	var body bytes.Buffer
	if err := json.NewEncoder(&body).Encode(map[string][]KVCommand{"commands": commands}); err != nil {
		return nil, err
	}
	var a KVBatch
	if err := c.AskStore(ctx, http.MethodPost, "batch", query, body.Bytes(), &a); err != nil {
		return nil, err
	}
	if len(a.Results) != len(commands) {
		return nil, fmt.Errorf("the node gave %d results for %d commands", len(a.Results), len(commands))
	}
	return a.Results, nil
}
