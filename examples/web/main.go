// Command web shows a node to a browser: who leads, which view is agreed, and the events
// as they happen. See README.md.
package main

import (
	"context"
	_ "embed"
	"flag"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"time"
)

//go:embed index.html
var page []byte

func main() {
	node := flag.String("node", "/run/failaware/failaware.sock", "the API of the node")
	listen := flag.String("listen", "127.0.0.1:8091", "the address to listen at")
	flag.Parse()
	log.Printf("open http://%s/", *listen)
	server := http.Server{Addr: *listen, Handler: handler(at(*node)), ReadHeaderTimeout: 10 * time.Second}
	log.Fatal(server.ListenAndServe())
}

type dialer func(ctx context.Context, network, addr string) (net.Conn, error)

// at returns a dialer that reaches the node at a socket.
func at(socket string) dialer {
	return func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}
}

// patience is how long a node may take to begin an answer, also one that goes on with events.
const patience = 5 * time.Second

// handler serves the page, and passes three paths of the node's API on: nothing that
// changes something.
func handler(dial dialer) http.Handler {
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Scheme, r.Out.URL.Host, r.Out.Host = "http", "node", "node"
		},
		Transport:     &http.Transport{DialContext: dial, ResponseHeaderTimeout: patience},
		FlushInterval: -1, // events leave at once
	}
	mux := http.NewServeMux()
	for _, path := range []string{"/v1/leader", "/v1/view", "/v1/events"} {
		mux.Handle("GET "+path, proxy)
	}
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write(page)
	})
	return local(mux)
}

// local refuses requests under other names than those of this machine: otherwise a page of
// another site could read the node through a name that it lets point here.
func local(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, err := net.SplitHostPort(r.Host)
		if err != nil {
			host = r.Host
		}
		if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
			http.Error(w, "only under the names of this machine", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}
