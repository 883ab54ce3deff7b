package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"
)

// kvClient is a client of the key-value store of the node in its place, over HTTP.
type kvClient struct {
	unable
	client *http.Client
	keys   atomic.Uint64
}

// kvConnections is how many connections callers share: a node takes 128.
const kvConnections = 64

func kvSocket(dir string) string { return filepath.Join(dir, "api.sock") }

func startKVClient(c *child) (member, error) {
	path := kvSocket(c.job.Dir)
	m := &kvClient{client: &http.Client{Transport: &http.Transport{MaxConnsPerHost: kvConnections, MaxIdleConnsPerHost: kvConnections,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", path)
		}}}}
	go func() {
		for m.store(context.Background(), []byte("ready")) != nil { // the nodes have not met yet
			time.Sleep(100 * time.Millisecond)
		}
		c.ready()
	}()
	return m, nil
}

func (m *kvClient) store(ctx context.Context, value []byte) error {
	url := fmt.Sprintf("http://node/v1/kv/put?key=key%d", m.keys.Add(1)%1000)
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(value))
	if err != nil {
		return err
	}
	a, err := m.client.Do(q)
	if err != nil {
		return err
	}
	defer a.Body.Close()
	text, err := io.ReadAll(a.Body)
	if err == nil && a.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", a.Status, text)
	}
	return err
}

// kvServer returns the command of a node.
func kvServer(g *group, id int) ([]string, error) {
	dir := g.nodes[id-1].dir
	var all []string
	args := []string{"failaware", "node", "--id", fmt.Sprint(id), "--listen", g.net.host(id) + ":7001", "--insecure", "--max-packet", "60000",
		"--api", kvSocket(dir), "--kv", "linearizable", "--kv-dir", filepath.Join(dir, "kv"), "--state-dir", filepath.Join(dir, "node")}
	for i := range g.count() {
		all = append(all, fmt.Sprint(i+1))
		if i+1 != id {
			args = append(args, "--peer", fmt.Sprintf("%d=%s:7001", i+1, g.net.host(i+1)))
		}
	}
	return append(args, "--quorum", "majority:"+strings.Join(all, ",")), nil
}
