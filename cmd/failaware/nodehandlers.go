package main

import (
	"context"
	"fmt"
	"iter"
	"path/filepath"
	"strings"

	"github.com/failaware/failaware/event"
	"github.com/failaware/failaware/internal/api"
	"github.com/failaware/failaware/internal/handler"
)

// addHandler adds a command or a webhook.
func addHandler(parse func(string) (handler.Spec, error)) func(*nodeConfig, string) error {
	return func(c *nodeConfig, text string) error { return c.takeHandler(parse(text)) }
}

// takeHandler is not part of addHandler, which the compiler inlines once for each kind.
func (c *nodeConfig) takeHandler(s handler.Spec, err error) error {
	switch {
	case err != nil:
		return err
	case len(c.handlers) >= handler.MaxSpecs:
		return fmt.Errorf("there are more than %d handlers and webhooks", handler.MaxSpecs)
	}
	c.handlers = append(c.handlers, s)
	return nil
}

// absolute returns the path of a socket for commands that may run in another directory. If
// that is too long for an address, it returns the path as it is.
func absolute(path string) string {
	if abs, err := filepath.Abs(strings.TrimPrefix(path, "unix:")); err == nil && len(abs) <= api.MaxSocketPath {
		return abs
	}
	return path
}

// handlerAPI returns the address of the API for commands of handlers, or "" if there is none,
// and the file with its token if it needs one.
func (c *nodeConfig) handlerAPI() (addr, token string) {
	switch {
	case c.api == "none":
		return "", ""
	case !c.tcpAPI():
		return absolute(c.api), ""
	}
	token, err := filepath.Abs(c.apiToken)
	if err != nil {
		token = c.apiToken // there is no present directory
	}
	return "http://" + c.api, token
}

// startHandlers starts the handlers with the first event of the node.
func (r *nodeRun) startHandlers() *handler.Set {
	cfg := r.node.Config()
	c := handler.Config{Node: cfg.ID, Name: cfg.Name, Group: cfg.Group, Timeout: r.cfg.handlerTimeout, Close: handler.CloseTime, Log: r.log.Named("handler")}
	if r.server != nil {
		c.Run = r.server.Run()
	} else {
		c.Run = api.NewRun()
	}
	c.API, c.TokenFile = r.cfg.handlerAPI()
	return handler.Start(c, r.cfg.handlers, func() iter.Seq[event.Event] {
		return r.node.EventsSince(context.Background(), 0)
	})
}
