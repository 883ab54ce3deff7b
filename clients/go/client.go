// Package client asks a node of failaware through its API. Most of it is generated from
// the API's document, docs/openapi.yaml, which describes every answer; this file has
// what the document cannot say: how to connect, and how to read streams.
//
//	c, err := client.New(client.Unix("/run/failaware/failaware.sock"))
//	…
//	answer, err := c.GetLeaderWithResponse(ctx)
//	if err == nil && answer.JSON200 != nil && answer.JSON200.UpToDate {
//		fmt.Println("node", answer.JSON200.Leader, "leads")
//	}
package client

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"time"
)

//go:generate go tool -modfile=tools/go.mod oapi-codegen -config config.yaml -o generated.go ../../docs/openapi.yaml

// Target is a node, and how to reach it. Make one with [Unix] or [URL].
type Target struct {
	url, socket, token string
	secure             *tls.Config
}

// Unix is the node at a unix socket. It is asked nothing if another user may have put the
// socket there: the error is [ErrUntrusted].
func Unix(path string) Target { return Target{url: "http://node", socket: path} }

// URL is the node at http://LOOPBACK:PORT, or at https://HOST:PORT if it serves other
// hosts. token may be empty if secure has a certificate of this client; secure may be
// nil.
func URL(url, token string, secure *tls.Config) Target {
	return Target{url: strings.TrimSuffix(url, "/"), token: token, secure: secure}
}

// At returns the node at an address as programs take it from a flag: the path of a unix
// socket, also after unix:, or a URL as for [URL]. For a URL the token is the content of
// tokenFile; a newline may follow it.
func At(address, tokenFile string) (Target, error) {
	if !strings.Contains(address, "://") {
		return Unix(strings.TrimPrefix(address, "unix:")), nil
	}
	if tokenFile == "" {
		return Target{}, errors.New("failaware: the URL of a node needs the file of its token")
	}
	token, err := os.ReadFile(tokenFile)
	if err != nil {
		return Target{}, fmt.Errorf("failaware: the node's token: %w", err)
	}
	return URL(address, strings.TrimSpace(string(token)), nil), nil
}

// New returns a client. Its methods can be called by many goroutines at a time, and end
// with their contexts; there are no other limits of time.
func New(t Target) (*ClientWithResponses, error) {
	if err := checkURL(t.url); err != nil && t.socket == "" {
		return nil, err
	}
	// The node closes connections that are idle for a minute, also just before a request.
	transport := &http.Transport{TLSClientConfig: t.secure, IdleConnTimeout: 30 * time.Second}
	if t.socket != "" {
		transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			conn, err := new(net.Dialer).DialContext(ctx, "unix", t.socket)
			if err != nil {
				return nil, err
			}
			if err := checkPeer(conn, t.socket); err != nil {
				return nil, errors.Join(err, conn.Close())
			}
			return conn, nil
		}
	}
	authorize := func(_ context.Context, q *http.Request) error {
		if t.token != "" {
			q.Header.Set("Authorization", "Bearer "+t.token)
		}
		return nil
	}
	web := &http.Client{Transport: transport, // a node redirects nobody, so whoever does is none
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return NewClientWithResponses(t.url, WithHTTPClient(web), WithRequestEditorFn(authorize))
}

// checkURL refuses a URL with which the token would go over a network for all to read.
func checkURL(text string) error {
	if !strings.HasPrefix(text, "http://") && !strings.HasPrefix(text, "https://") {
		return errors.New("failaware: the URL of a node begins with http:// or https://")
	}
	u, err := url.Parse(text)
	if err != nil {
		return fmt.Errorf("failaware: %w", err)
	}
	if u.Scheme == "http" && !here(u.Hostname()) {
		return fmt.Errorf("failaware: the node at %s is not on this machine: other hosts need https://", text)
	}
	return nil
}

// here reports whether a host is this machine, by a loopback address.
func here(host string) bool {
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback() || strings.EqualFold(strings.TrimSuffix(host, "."), "localhost")
}
