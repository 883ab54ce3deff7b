package main

import (
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/failaware/failaware/internal/api"
	"github.com/failaware/failaware/internal/cli"
	"github.com/failaware/failaware/internal/dashboard"
)

// listeners are the open addresses of the API: the one of this machine, that of the
// page, and that for other hosts. Each may be nil.
type listeners struct{ local, pages, remote net.Listener }

func (l *listeners) any() bool { return l.local != nil || l.pages != nil || l.remote != nil }

func (l *listeners) close() {
	for _, x := range []net.Listener{l.local, l.pages, l.remote} {
		if x != nil {
			_ = x.Close()
		}
	}
}

// open opens the addresses of the API, and replaces them in the settings where the
// system has chosen the port. After an error, some may be open.
func (r *nodeRun) open() (l listeners, err error) {
	if l.local, err = r.listen(); err != nil {
		return l, err
	}
	if l.local != nil && r.cfg.tcpAPI() {
		r.cfg.api = l.local.Addr().String()
	}
	if l.pages, err = r.listenHTTP(); err != nil {
		return l, err
	}
	if l.pages != nil {
		r.cfg.http = l.pages.Addr().String()
	}
	if l.remote, err = r.listenRemote(); err != nil {
		return l, err
	}
	if l.remote != nil {
		r.cfg.remote.listen = l.remote.Addr().String()
	}
	return l, nil
}

// listen opens the API before the node starts: if another node has the socket, this one
// must not appear in the group.
func (r *nodeRun) listen() (net.Listener, error) {
	var l net.Listener
	var err error
	switch {
	case r.cfg.api == "none":
		return nil, nil
	case r.cfg.tcpAPI():
		if err := r.makeToken(); err != nil {
			return nil, cli.WrongUsage(err)
		}
		l, err = api.ListenTCP(r.cfg.api)
	default:
		var addr api.Address
		if addr, err = api.ParseAddress(r.cfg.api); err == nil && addr.Socket == "" {
			err = fmt.Errorf("%q is neither a path nor HOST:PORT", r.cfg.api)
		}
		if err == nil {
			r.cfg.api = addr.Socket
			l, err = api.ListenUnix(addr.Socket)
		}
	}
	switch {
	case errors.Is(err, api.ErrInUse):
		return nil, cli.WrongUsage(r.cfg.values.fault("api", "%w; choose another one", err))
	case err != nil:
		return nil, cli.WrongUsage(r.cfg.values.fault("api", "%w", err))
	}
	return l, nil
}

// makeToken takes the token from the file of --api-token, unless that was done before.
func (r *nodeRun) makeToken() error {
	if r.token != nil {
		return nil
	}
	token, err := api.MakeToken(r.cfg.apiToken)
	if err != nil {
		return r.cfg.values.fault("api_token", "%w", err)
	}
	r.token = api.TokenOf(token)
	return nil
}

// reloadToken reads the token again, if it is in a file.
func (r *nodeRun) reloadToken() {
	if r.token == nil || r.cfg.apiToken == "" {
		return
	}
	token, err := api.OwnToken(r.cfg.apiToken)
	if err != nil {
		r.log.Error("the token of the API stays the same", "error", err)
		return
	}
	r.token.Replace(token)
	r.log.Info("read the token of the API again")
}

// listenHTTP opens the address of the page, if there is one.
func (r *nodeRun) listenHTTP() (net.Listener, error) {
	if r.cfg.http == "" {
		return nil, nil
	}
	if r.cfg.apiToken == "" {
		r.pageToken = api.NewToken()
		r.token = api.TokenOf(r.pageToken)
	} else if err := r.makeToken(); err != nil {
		return nil, cli.WrongUsage(err)
	}
	l, err := api.ListenTCP(r.cfg.http)
	if err != nil {
		return nil, cli.WrongUsage(r.cfg.values.fault("http", "%w", err))
	}
	return l, nil
}

// makeServer makes the server of the API.
func (r *nodeRun) makeServer(ctx context.Context) {
	r.server = r.newServer()
	r.server.Version = cli.Version()
	r.server.LogTo(r.log.Named("api"))
	r.server.InFlags = inFlags
	r.server.Leave = r.askedToLeave
	r.server.Pages = dashboard.Handler(dashboard.Node)
	r.operate(ctx)
}

// askedToLeave returns what has the node leave. A node that leaves already, and not for good,
// is not forgotten: it may have told its peers.
func (r *nodeRun) askedToLeave(forGood bool) (begin func(), err error) {
	if good := r.departure.begin(forGood); forGood && !good {
		return nil, errors.New("the node already leaves, without being forgotten")
	}
	return func() {
		select {
		case r.leave <- forGood:
		default:
		}
	}, nil
}

// serve serves the API at all addresses.
func (r *nodeRun) serve(open listeners) {
	tcp := func(l net.Listener) error { return r.server.ServeTCP(l, r.token) }
	serve := r.server.Serve
	if r.cfg.tcpAPI() {
		serve = tcp
	}
	start := func(l net.Listener, serve func(net.Listener) error, what string) {
		if err := serve(l); err != nil && !errors.Is(err, net.ErrClosed) {
			r.log.Error(what+" is no longer available", "error", err)
		}
	}
	if open.local != nil {
		go start(open.local, serve, "the API")
	}
	if open.pages != nil {
		go start(open.pages, tcp, "the page")
	}
	if open.remote != nil {
		secure := func(l net.Listener) error { return r.server.ServeRemote(l, r.remote) }
		go start(open.remote, secure, "the API for other hosts")
	}
}

// pageURL returns the address of the page. It contains a token that was made for this run;
// one from a file is not repeated.
func (r *nodeRun) pageURL() string {
	switch {
	case r.cfg.http == "":
		return ""
	case r.cfg.apiToken == "":
		return "http://" + r.cfg.http + "/#token=" + r.pageToken
	}
	return "http://" + r.cfg.http + "/"
}
