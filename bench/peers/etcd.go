package main

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
	"go.uber.org/zap"
)

// etcdClient is a client of the server of etcd in the place of its node. Messages are puts
// of one key, which a client at each server watches.
type etcdClient struct {
	c       *child
	clients []*clientv3.Client // connections, which callers share
	next    atomic.Uint64
	holds   atomic.Pointer[concurrency.Session] // the session with which it won an election
	room    chan struct{}
	failed  atomic.Pointer[error]
}

// etcdConnections is how many connections callers share: the client library puts all
// requests of one on one stream of TCP.
const etcdConnections = 4

func startEtcdClient(c *child) (member, error) {
	m := &etcdClient{c: c, room: make(chan struct{}, 1024)}
	for range etcdConnections {
		client, err := clientv3.New(clientv3.Config{Endpoints: []string{"http://" + c.job.Hosts[c.job.ID-1] + ":2379"},
			DialTimeout: 10 * time.Second, Logger: zap.NewNop()})
		if err != nil {
			return nil, err
		}
		m.clients = append(m.clients, client)
	}
	if c.job.Use == forMessages {
		go m.watch()
	}
	return m, nil
}

func (m *etcdClient) client() *clientv3.Client {
	return m.clients[m.next.Add(1)%etcdConnections]
}

func (m *etcdClient) watch() {
	for answer := range m.clients[0].Watch(context.Background(), "message") {
		for _, e := range answer.Events {
			m.c.deliver(e.Kv.Value)
		}
	}
}

func (m *etcdClient) send(payload []byte, _ string) error {
	if err := m.failed.Load(); err != nil {
		return *err
	}
	m.room <- struct{}{}
	value := string(payload)
	go func() {
		if _, err := m.client().Put(context.Background(), "message", value); err != nil {
			m.failed.Store(&err)
		}
		<-m.room
	}()
	return nil
}

func (m *etcdClient) store(ctx context.Context, value []byte) error {
	_, err := m.client().Put(ctx, "value", string(value))
	return err
}

// campaign stands for election again whenever its session has ended, with the shortest
// session that there is, or one as long as that of the library's recipes.
func (m *etcdClient) campaign() error {
	seconds := 60
	if m.c.job.Tight {
		seconds = 1
	}
	go func() {
		for ; ; time.Sleep(100 * time.Millisecond) {
			s, err := concurrency.NewSession(m.clients[0], concurrency.WithTTL(seconds))
			if err != nil {
				continue
			}
			ctx, cancel := context.WithCancel(context.Background())
			go func() {
				<-s.Done()
				cancel()
			}()
			if concurrency.NewElection(s, "/election").Campaign(ctx, fmt.Sprint(m.c.job.ID)) == nil {
				m.holds.Store(s)
			}
			<-ctx.Done()
			m.holds.CompareAndSwap(s, nil)
		}
	}()
	return nil
}

// leads is what the library's documentation tells workers to ask: whether the session has
// ended.
func (m *etcdClient) leads() bool {
	s := m.holds.Load()
	if s == nil {
		return false
	}
	select {
	case <-s.Done():
		return false
	default:
		return true
	}
}

// etcdServer returns the command of a server.
func etcdServer(g *group, id int) ([]string, error) {
	var all []string
	for i := range g.count() {
		all = append(all, fmt.Sprintf("n%d=http://%s:2380", i+1, g.net.host(i+1)))
	}
	peer, client := fmt.Sprintf("http://%s:2380", g.net.host(id)), fmt.Sprintf("http://%s:2379", g.net.host(id))
	args := []string{"etcd", "--name", fmt.Sprintf("n%d", id), "--data-dir", filepath.Join(g.nodes[id-1].dir, "etcd"),
		"--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--listen-client-urls", client, "--advertise-client-urls", client,
		"--initial-cluster", strings.Join(all, ","), "--logger", "zap", "--log-outputs", "stderr", "--log-level", "info"}
	if g.tight {
		args = append(args, "--heartbeat-interval", "10", "--election-timeout", "100")
	}
	return args, nil
}

// etcdLog reads the logs of a group's servers.
type etcdLog struct {
	mu    sync.Mutex
	nodes map[string]int // by etcd's ids
}

func newEtcdLog() logReader { return &etcdLog{nodes: map[string]int{}} }

// read takes a line: "raft.node: ID elected leader ID at term 2". A server's first lines
// begin with its id.
func (l *etcdLog) read(id int, line string) (leader int, ok bool) {
	var entry struct{ Msg string }
	if json.Unmarshal([]byte(line), &entry) != nil {
		return 0, false
	}
	words, isNode := strings.CutPrefix(entry.Msg, "raft.node: ")
	f := strings.Fields(words)
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(f) > 0 {
		if _, err := strconv.ParseUint(f[0], 16, 64); err == nil {
			l.nodes[f[0]] = id
		}
	}
	switch {
	case !isNode || len(f) < 4:
		return 0, false
	case f[1] == "elected":
		return l.nodes[f[3]], true
	case f[1] == "changed" && len(f) > 6:
		return l.nodes[f[6]], true // changed leader from ID to ID
	}
	return 0, f[1] == "lost"
}
