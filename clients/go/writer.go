package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"unicode/utf8"
)

// Limits of a [Writer].
const (
	// WriterRequests is how many requests of one Writer are under way at a time.
	WriterRequests = 8
	// WriterCommands and WriterBytes are what one request takes at most; the node takes no
	// more either.
	WriterCommands, WriterBytes = 128, 1 << 20
)

// Writer carries out commands of many goroutines on few connections. Commands that come while
// requests are under way gather, and go in one request together. So a node carries out more
// commands a second than by [ClientWithResponses.KvPutWithBodyWithResponse]; a command that
// comes alone does not wait.
//
// Each command is still carried out by itself, and one can fail while others succeed. A Writer
// sends nothing again: a [Session] does, one command after the other. Its methods are safe for
// concurrent use.
type Writer struct {
	node *ClientWithResponses

	mu       sync.Mutex
	waiting  []*written
	underway int // requests
}

// written is a command that waits for its outcome.
type written struct {
	command KVCommand
	text    []byte // its JSON
	write   *KVWrite
	err     error
	done    chan struct{} // closed when write and err are set
}

// NewWriter returns a Writer to a node.
func NewWriter(node *ClientWithResponses) *Writer { return &Writer{node: node} }

// Put writes a key, and returns as [Writer.Do] does.
func (w *Writer) Put(ctx context.Context, key string, value []byte) (*KVWrite, error) {
	if value == nil {
		value = []byte{}
	}
	return w.Do(ctx, KVCommand{Op: CommandPut, Key: key, Value: &value})
}

// Do carries out a command. The answer's Status says what came of it. The error, if any,
// matches [ErrUnknownOutcome], or nothing was changed. A command with a Session and a Number
// can be sent again after that.
func (w *Writer) Do(ctx context.Context, command KVCommand) (*KVWrite, error) {
	if !utf8.ValidString(command.Key) { // JSON would make another key of it
		return nil, fmt.Errorf("failaware: the key %q is not UTF-8", command.Key)
	}
	text, err := json.Marshal(command)
	if err != nil {
		return nil, err
	}
	if most := WriterBytes - len(batchBegin) - len(batchEnd); len(text) > most {
		return nil, fmt.Errorf("failaware: the command has %d bytes, and a request takes %d", len(text), most)
	}
	c := &written{command: command, text: text, done: make(chan struct{})}
	w.mu.Lock()
	w.waiting = append(w.waiting, c)
	if w.underway < WriterRequests {
		w.underway++
		go w.send()
	}
	w.mu.Unlock()
	select {
	case <-c.done:
		return c.write, c.err
	case <-ctx.Done():
	}
	if w.withdraw(c) {
		return nil, context.Cause(ctx)
	}
	return nil, c.unknown(context.Cause(ctx))
}

// withdraw takes a command back, and reports whether it was not sent yet.
func (w *Writer) withdraw(c *written) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	i := slices.Index(w.waiting, c)
	if i >= 0 {
		w.waiting = slices.Delete(w.waiting, i, i+1)
	}
	return i >= 0
}

// unknown returns the error of a command that may have been carried out.
func (c *written) unknown(err error) *UnknownOutcomeError {
	u := &UnknownOutcomeError{Err: err}
	if c.command.Session != nil && c.command.Number != nil {
		u.Session, u.Number = *c.command.Session, *c.command.Number
	}
	return u
}

// send sends requests until no command waits.
func (w *Writer) send() {
	for batch := w.take(); len(batch) > 0; batch = w.take() {
		w.carryOut(batch)
	}
}

// carryOut sends a request, and gives each command its outcome. A node refuses a whole request
// for one malformed command. Halves of the request find that one, and the others do not suffer.
func (w *Writer) carryOut(batch []*written) {
	results, outcome, err := w.request(batch)
	if half := len(batch) / 2; outcome == malformed && half > 0 {
		w.carryOut(batch[:half])
		w.carryOut(batch[half:])
		return
	}
	for i, c := range batch {
		switch {
		case err == nil:
			c.write, c.err = c.outcome(&results[i])
		case outcome == lost:
			c.err = c.unknown(err)
		default:
			c.err = err
		}
		close(c.done)
	}
}

// take returns the commands of the next request. Without any, the request is over.
func (w *Writer) take() (batch []*written) {
	w.mu.Lock()
	defer w.mu.Unlock()
	size, keys := len(batchBegin)+len(batchEnd)-1, map[string]bool{} // before the first is no comma
	rest := w.waiting[:0]
	for i, c := range w.waiting {
		if len(batch) == WriterCommands || size+len(c.text)+1 > WriterBytes {
			rest = append(rest, w.waiting[i:]...)
			break
		}
		if keys[c.command.Key] { // commands of one request have no order
			rest = append(rest, c)
			continue
		}
		keys[c.command.Key] = true
		batch, size = append(batch, c), size+len(c.text)+1
	}
	clear(w.waiting[len(rest):])
	w.waiting = rest
	if len(batch) == 0 {
		w.underway--
	}
	return batch
}

const batchBegin, batchEnd = `{"commands":[`, `]}`

// request sends one request, and returns a result for each command, or an error with what is
// known of all of them.
func (w *Writer) request(batch []*written) ([]KVResult, outcome, error) {
	body := bytes.NewBufferString(batchBegin)
	for i, c := range batch {
		if i > 0 {
			body.WriteByte(',')
		}
		body.Write(c.text)
	}
	body.WriteString(batchEnd)
	ctx, cancel := context.WithTimeout(context.Background(), AttemptTime)
	defer cancel()
	res, err := w.node.KvBatchWithBody(ctx, &KvBatchParams{}, "application/json", body)
	if err != nil {
		return nil, unanswered(err), err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, batchOutcome(res.StatusCode), refusal(res)
	}
	text, err := io.ReadAll(res.Body)
	var answer KVBatch
	if err == nil {
		err = json.Unmarshal(text, &answer)
	}
	if err == nil && len(answer.Results) != len(batch) {
		err = fmt.Errorf("failaware: the node gives %d results for %d commands", len(answer.Results), len(batch))
	}
	return answer.Results, lost, err
}

// batchOutcome returns what the status code of a whole request says about its commands. A
// node refuses a request before it carries out any.
func batchOutcome(code int) outcome {
	switch code {
	case http.StatusServiceUnavailable:
		return lost // of a proxy: a node gives each command a code
	case http.StatusBadRequest:
		return malformed
	}
	return unlessDenied(code)
}

// outcome returns what came of a command.
func (c *written) outcome(r *KVResult) (*KVWrite, error) {
	switch {
	case r.Write != nil && r.Write.Status != "":
		return r.Write, nil
	case r.Error == nil:
		return nil, c.unknown(fmt.Errorf("failaware: the node gives no reason for code %d", r.Code))
	}
	err := fmt.Errorf("failaware: %s", *r.Error)
	switch {
	case r.Code == http.StatusGone:
		u := c.unknown(err)
		u.Ended = true
		return nil, u
	case r.Code == http.StatusServiceUnavailable:
		return nil, err
	case unlessDenied(r.Code) == lost:
		return nil, c.unknown(err)
	}
	return nil, err
}
