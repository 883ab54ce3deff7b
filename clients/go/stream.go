package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"net/http"
)

// maxLine is the longest line of a stream: an item with the largest payload, in base64.
const maxLine = 96 << 20

// Events returns the events of a node after the one with the id since: "" for new ones,
// "0" for all that the node keeps. The iterator ends with an error when the stream does;
// call Events again with the id of the last event to continue. topic may be empty.
func (c *ClientWithResponses) Events(ctx context.Context, topic StreamEventsParamsTopic, since string) iter.Seq2[Event, error] {
	params := &StreamEventsParams{}
	if topic != "" {
		params.Topic = &topic
	}
	if since != "" {
		params.LastEventID = &since
	}
	return stream[Event](func() (*http.Response, error) { return c.StreamEvents(ctx, params) })
}

// Deliveries is like [ClientWithResponses.Events], for the deliveries of a node with a
// broadcast and the views among them.
func (c *ClientWithResponses) Deliveries(ctx context.Context, since string) iter.Seq2[Delivery, error] {
	params := &StreamDeliveriesParams{}
	if since != "" {
		params.LastEventID = &since
	}
	return stream[Delivery](func() (*http.Response, error) { return c.StreamDeliveries(ctx, params) })
}

// stream reads server-sent events, each with one line of data.
func stream[T any](open func() (*http.Response, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		res, err := open()
		if err != nil {
			yield(none, err)
			return
		}
		defer res.Body.Close()
		if res.StatusCode != http.StatusOK {
			yield(none, refusal(res))
			return
		}
		lines := linesOf(res.Body)
		for lines.Scan() {
			data, found := cutPrefix(lines.Bytes(), "data: ")
			if !found {
				continue
			}
			var item T
			if err := json.Unmarshal(data, &item); err != nil {
				yield(none, err)
				return
			}
			if !yield(item, nil) {
				return
			}
		}
		yield(none, errors.Join(errors.New("failaware: the stream has ended"), lines.Err()))
	}
}

// linesOf returns a scanner of the lines of a stream. A last line without its end is none: the
// node has died in the middle of it.
func linesOf(r io.Reader) *bufio.Scanner {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	lines.Split(func(b []byte, _ bool) (advance int, line []byte, err error) {
		end := bytes.IndexByte(b, '\n')
		if end < 0 {
			return 0, nil, nil
		}
		return end + 1, b[:end], nil
	})
	return lines
}

func cutPrefix(line []byte, prefix string) ([]byte, bool) {
	if len(line) < len(prefix) || string(line[:len(prefix)]) != prefix {
		return nil, false
	}
	return line[len(prefix):], true
}

// refusal returns the error of an answer.
func refusal(res *http.Response) *refusedError {
	b, _ := io.ReadAll(io.LimitReader(res.Body, 1<<16))
	return refusalOf(res, b)
}

// refusalOf is refusal for an answer whose body has been read.
func refusalOf(res *http.Response, b []byte) *refusedError {
	e := &refusedError{code: res.StatusCode, text: "the node answers " + res.Status}
	var f Failure
	if json.Unmarshal(b, &f) == nil && f.Error != "" {
		e.text, e.ofNode = f.Error, true
	}
	return e
}

// refusedError is an answer other than the one that was asked for.
type refusedError struct {
	code   int
	text   string
	ofNode bool // the answer has a node's form; proxies answer in other forms
}

func (e *refusedError) Error() string { return "failaware: " + e.text }
