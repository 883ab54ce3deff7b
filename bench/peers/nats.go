package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
)

// natsClient is a client of the server of NATS in the place of its node. Messages go
// through a stream of JetStream with a replica at every server.
type natsClient struct {
	unable
	c  *child
	js nats.JetStreamContext
}

func startNATSClient(c *child) (member, error) {
	m := &natsClient{c: c}
	if c.job.Use != forMessages {
		return m, nil
	}
	conn, err := nats.Connect("nats://"+c.job.Hosts[c.job.ID-1]+":4222", nats.RetryOnFailedConnect(true),
		nats.MaxReconnects(-1), nats.ReconnectWait(100*time.Millisecond))
	if err != nil {
		return nil, err
	}
	if m.js, err = conn.JetStream(nats.PublishAsyncMaxPending(4096)); err != nil {
		return nil, err
	}
	go m.subscribe()
	return m, nil
}

// subscribe makes the stream, which all nodes try, and takes its messages in order. The
// nodes are not ready until the servers have elected their leaders.
func (m *natsClient) subscribe() {
	for {
		_, err := m.js.AddStream(&nats.StreamConfig{Name: "PEERS", Subjects: []string{"peers"}, Replicas: len(m.c.job.Hosts),
			Storage: nats.MemoryStorage, MaxBytes: 1 << 30, Discard: nats.DiscardOld})
		if err == nil {
			_, err = m.js.Subscribe("peers", func(msg *nats.Msg) { m.c.deliver(msg.Data) }, nats.OrderedConsumer(), nats.DeliverNew())
		}
		if err == nil {
			m.c.ready()
			return
		}
		time.Sleep(200 * time.Millisecond)
	}
}

func (m *natsClient) send(payload []byte, _ string) error {
	_, err := m.js.PublishAsync("peers", bytes.Clone(payload), nats.StallWait(10*time.Second))
	return err
}

// store is not offered: this version of the server acknowledges before it calls fsync.
func (m *natsClient) store(context.Context, []byte) error { return errNotOffered }

// natsServer returns the command of a server.
func natsServer(g *group, id int) ([]string, error) {
	var routes []string
	for i := range g.count() {
		routes = append(routes, fmt.Sprintf("nats://%s:6222", g.net.host(i+1)))
	}
	text := fmt.Sprintf("server_name: n%d\nlisten: %s:4222\njetstream { store_dir: %q, max_memory_store: 4GB }\n"+
		"cluster { name: peers, listen: %s:6222, routes: [ %s ] }\n", id, g.net.host(id), filepath.Join(g.nodes[id-1].dir, "nats"),
		g.net.host(id), strings.Join(routes, ", "))
	path := filepath.Join(g.nodes[id-1].dir, "nats.conf")
	return []string{"nats-server", "-c", path}, os.WriteFile(path, []byte(text), 0o600)
}

// natsLog reads the logs of a group's servers for the leader of JetStream's metadata.
type natsLog struct{}

func newNATSLog() logReader { return natsLog{} }

func (natsLog) read(id int, line string) (leader int, ok bool) {
	if strings.Contains(line, "Self is new JetStream cluster metadata leader") {
		return id, true
	}
	_, after, ok := strings.Cut(line, "JetStream cluster new metadata leader: n")
	if ok {
		_, err := fmt.Sscanf(after, "%d/", &leader)
		return leader, err == nil
	}
	return 0, strings.Contains(line, "JetStream cluster no metadata leader")
}
