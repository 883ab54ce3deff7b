package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
)

// AskStore sends a request for a path of the store, such as "get", and decodes the answer into
// v. If the store refuses the request, because a key does not exist for example, v has its
// answer and the error is a [*StatusError].
func (c *Client) AskStore(ctx context.Context, method, path string, query url.Values, body []byte, v any) error {
	err := c.exchange(ctx, method, kvPath+path+"?"+query.Encode(), body, v)
	if e, ok := errors.AsType[*StatusError](err); ok && len(e.body) > 0 {
		_ = json.Unmarshal(e.body, v) // other answers have no more than the text of the error
	}
	return err
}

// WatchStore calls f for each item of a stream of changes until it ends or f fails, like
// [Client.Events].
func (c *Client) WatchStore(ctx context.Context, query url.Values, r *Resume, started func(run string), f func(KVChange) error) error {
	return stream(ctx, c, kvPath+"watch?"+query.Encode(), r, started, func(k KVChange) (string, error) { return k.ID, f(k) })
}
