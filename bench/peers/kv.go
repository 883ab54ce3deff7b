package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	client "github.com/failaware/failaware/clients/go"
)

// kvClient is a client of the key-value store of the node in its place, over HTTP. Its callers
// share a few connections, as those of etcd's client share one.
type kvClient struct {
	unable
	writer *client.Writer
	keys   atomic.Uint64
}

func kvSocket(dir string) string { return filepath.Join(dir, "api.sock") }

func startKVClient(c *child) (member, error) {
	node, err := client.New(client.Unix(kvSocket(c.job.Dir)))
	if err != nil {
		return nil, err
	}
	m := &kvClient{writer: client.NewWriter(node)}
	go func() {
		for m.store(context.Background(), []byte("ready")) != nil { // the nodes have not met yet
			time.Sleep(100 * time.Millisecond)
		}
		c.ready()
	}()
	return m, nil
}

func (m *kvClient) store(ctx context.Context, value []byte) error {
	a, err := m.writer.Put(ctx, fmt.Sprint("key", m.keys.Add(1)%1000), value)
	if err == nil && a.Status != client.KVWriteStatusDone {
		err = fmt.Errorf("the store says: %s", a.Status)
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
