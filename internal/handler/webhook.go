package handler

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"github.com/failaware/failaware/event"
)

// client follows no redirects: an event goes where the configuration says, or nowhere.
var client = &http.Client{Transport: fresh(), CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

// fresh makes a connection for each event. One that was used before may be closed by the
// server just when an event is sent, and whether the event came would not be known.
func fresh() *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.DisableKeepAlives = true
	return t
}

// post sends the event to the webhook. Any status of success will do.
func (r *running) post(ctx context.Context, e event.Event, dropped uint64, data []byte) error {
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, r.URL, bytes.NewReader(data))
	if err != nil {
		return err
	}
	q.Header.Set("Content-Type", "application/json")
	q.Header.Set("User-Agent", "failaware")
	q.Header.Set("Failaware-Event", e.Kind())
	q.Header.Set("Failaware-Dropped", strconv.FormatUint(dropped, 10))
	res, err := client.Do(q)
	if err != nil {
		if context.Cause(ctx) != nil {
			return context.Cause(ctx)
		}
		if u, ok := errors.AsType[*url.Error](err); ok {
			err = u.Err // without the URL, which may hold a password
		}
		return err
	}
	_ = res.Body.Close()
	if res.StatusCode < 200 || res.StatusCode > 299 {
		return fmt.Errorf("the webhook answers %s", res.Status)
	}
	return nil
}
