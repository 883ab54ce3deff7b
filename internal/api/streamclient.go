package api

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// maxLine is the limit of a line of a stream, which may contain a payload.
const maxLine = 96 << 20

// Resume is the position from which a stream of events continues.
type Resume struct {
	Topic string
	Last  string // the id of the last event seen; empty: only new ones
	Run   string // the run of the node that sent Last, once known
	// Begin is how long the stream may take to begin, or 0 for as long as it may be silent.
	Begin time.Duration
}

// Events calls f for each event of a stream until it ends or f fails. It records the
// last event in r, so that the next call continues there. It calls started, if not nil,
// when the stream begins.
func (c *Client) Events(ctx context.Context, r *Resume, started func(run string), f func(Event) error) error {
	query := url.Values{"topic": {cmp.Or(r.Topic, "all")}}
	return stream(ctx, c, "/v1/events?"+query.Encode(), r, started, func(e Event) (string, error) { return e.ID, f(e) })
}

// ErrEnd is the end of a stream without follow.
var ErrEnd = errors.New("the stream has ended")

// errWhole is the cause of an [UnreachableError] after a stream that the node has ended.
var errWhole = fmt.Errorf("%w", io.ErrUnexpectedEOF)

// CutOffError says that a stream without follow has begun, and broken off before its end.
type CutOffError struct{ text string }

func (e *CutOffError) Error() string { return "the list is cut off: " + e.text }

// cutOff returns the error of a stream without follow that has begun and ends with err.
func cutOff(ctx context.Context, err error) error {
	if gone, ok := errors.AsType[*UnreachableError](err); ok {
		if errors.Is(err, errSlow) {
			return &CutOffError{err.Error()}
		}
		return &CutOffError{fmt.Sprintf("the connection to %s is lost: %v", gone.Addr, plain(gone.Err))}
	}
	if ctx.Err() == nil || err != context.Cause(ctx) {
		return err // of the caller
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return &CutOffError{"it takes too long"}
	}
	return &CutOffError{err.Error()}
}

// Deliveries is like Events, for the node's deliveries. Without follow it ends with [ErrEnd]
// after the existing ones, or with a [*CutOffError] among them.
func (c *Client) Deliveries(ctx context.Context, r *Resume, follow bool, started func(run string), f func(Delivery) error) error {
	query := url.Values{"follow": {strconv.FormatBool(follow)}}
	begun := false
	err := stream(ctx, c, "/v1/deliveries?"+query.Encode(), r, func(run string) {
		if begun = true; started != nil {
			started(run)
		}
	}, func(d Delivery) (string, error) { return d.ID, f(d) })
	switch {
	case follow, !begun:
		return err
	case errors.Is(err, errWhole):
		return ErrEnd
	}
	return cutOff(ctx, err)
}

// stream calls f for each value of a stream; f returns the id to resume with.
func stream[T any](ctx context.Context, c *Client, path string, r *Resume, started func(run string), f func(T) (string, error)) error {
	return c.stream(ctx, path, r, started, func(data []byte) error {
		var v T
		if err := json.Unmarshal(data, &v); err != nil {
			return foreign(c.addr, err)
		}
		id, err := f(v)
		if err == nil {
			r.Last = id
		}
		return err
	})
}

// mostSilence is after how long a node that sends nothing on a stream is given up: three beats
// are missing.
const mostSilence = 3 * heartbeat

// heard is a reader that calls note when something comes.
type heard struct {
	io.Reader
	note func()
}

func (h heard) Read(b []byte) (int, error) {
	n, err := h.Reader.Read(b)
	if n > 0 {
		h.note()
	}
	return n, err
}

// stream calls f for the data of each value of a stream. It gives up a node that is silent.
func (c *Client) stream(ctx context.Context, path string, r *Resume, started func(run string), f func(data []byte) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	silent := time.AfterFunc(cmp.Or(r.Begin, mostSilence), func() { cancel(errSlow) })
	defer silent.Stop()
	note := func() { silent.Reset(mostSilence) }
	res, err := c.send(ctx, http.MethodGet, path, r.Last, nil)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	note()
	if !strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
		return fmt.Errorf("the server at %s has no events", c.addr)
	}
	r.Run = res.Header.Get("Failaware-Run")
	if r.Last == "" {
		r.Last = res.Header.Get("Failaware-Last")
	}
	if started != nil {
		started(r.Run)
	}
	lines := bufio.NewScanner(heard{res.Body, note})
	lines.Buffer(nil, maxLine)
	var data []byte
	for lines.Scan() {
		line := lines.Bytes()
		switch {
		case len(line) == 0 && len(data) > 0:
			silent.Stop() // f may take its time
			if err := f(data); err != nil {
				return err
			}
			note()
			data = data[:0]
		case strings.HasPrefix(string(line), "data: "):
			data = append(data, line[len("data: "):]...)
		}
	}
	if err := context.Cause(ctx); err == errSlow {
		return newUnreachable(c.addr, err)
	} else if err != nil {
		return err
	}
	err = lines.Err()
	if err == nil {
		err = errWhole
	}
	return newUnreachable(c.addr, err)
}
