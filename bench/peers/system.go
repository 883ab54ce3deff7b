package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// system is one of the compared systems.
type system struct {
	name string
	// member starts a member, or a client, in a child process.
	member func(*child) (member, error)
	// daemon returns the command of the server beside each child; nil if the system is a
	// library. newLog reads what it prints.
	daemon func(g *group, id int) ([]string, error)
	newLog func() logReader
	// program is that of the daemon, and arguments those by which it tells its version.
	program string
	version string
	pkg     string // of Debian
	module  string // of Go, for the version

	leads, views bool // the system has leaders, and views of members
	readies      use  // clients say when they are ready for this
	apart        bool // it needs a namespace for each node
	flavours     []string
	paced        bool // loads are as fast as the settings
	anySender    bool // durable operations are taken at each node
	stores       bool
	settings     [2]string        // what the defaults and the tightest settings are
	storing      string           // how clients of durable operations reach it
	faults       [2]time.Duration // how long leaders are stopped: until another one leads; 0: not
}

// logReader finds leaders in what a daemon prints. ok says that the line has news; leader
// is 0 if there is none.
type logReader interface {
	read(id int, line string) (leader int, ok bool)
}

// systems are all systems by their names.
var systems = map[string]*system{}

// order is that of the tables.
var order = []string{"failaware", "failaware kv", "hashicorp/raft", "etcd", "NATS JetStream", "memberlist", "corosync"}

func init() {
	for _, s := range []*system{
		{name: "failaware", member: startOurs, leads: true, views: true, stores: true, anySender: true,
			flavours: []string{"weak", "strict"}, module: "github.com/failaware/failaware",
			settings: [2]string{"timing LAN", "timing Local"},
			storing:  "in the node's process (replicate, Storage, RequireQuorum)", faults: [2]time.Duration{time.Second, 500 * time.Millisecond}},
		{name: "failaware kv", member: startKVClient, daemon: kvServer, program: "failaware", readies: forStoring, stores: true, anySender: true,
			settings: [2]string{"timing LAN", ""}, storing: "over HTTP to the node beside them, by Writer of the Go client"},
		{name: "hashicorp/raft", member: startRaft, leads: true, stores: true,
			flavours: []string{"applied"}, paced: true, module: "github.com/hashicorp/raft",
			settings: [2]string{"DefaultConfig: timeouts of 1 s, lease 0.5 s, CommitTimeout 50 ms",
				fmt.Sprintf("timeouts and lease of %v; under load only CommitTimeout 1 ms, MaxAppendEntries 1024, BatchApplyCh", raftTight)},
			storing: "in the leader's process (raft-wal)", faults: [2]time.Duration{5 * time.Second, 500 * time.Millisecond}},
		{name: "etcd", member: startEtcdClient, daemon: etcdServer, newLog: newEtcdLog, program: "etcd", version: "--version", pkg: "etcd-server",
			leads: true, stores: true, anySender: true, flavours: []string{"put and watch"},
			settings: [2]string{"heartbeat 100 ms, election 1 s; sessions of 60 s", "heartbeat 10 ms, election 100 ms; sessions of 1 s"},
			storing:  "over gRPC to the server beside them", faults: [2]time.Duration{0, 5 * time.Second}},
		{name: "NATS JetStream", member: startNATSClient, daemon: natsServer, newLog: newNATSLog, program: "nats-server", version: "--version", pkg: "nats-server",
			leads: true, readies: forMessages, flavours: []string{"stream in memory, 3 replicas"},
			settings: [2]string{"election after 4 to 9 s, which no setting changes", ""}},
		{name: "memberlist", member: startMemberlist, views: true, flavours: []string{"gossip, no order"}, paced: true, module: "github.com/hashicorp/memberlist",
			settings: [2]string{"DefaultLANConfig", "probes every 50 ms for 20 ms, suspicion and gossip as short as they go"}},
		{name: "corosync", member: startCPG, daemon: corosyncDaemon, program: "corosync", version: "-v", pkg: "corosync", views: true, apart: true,
			flavours: []string{"agreed", "safe"},
			settings: [2]string{"token 3 s", "token 60 ms, consensus 72 ms, join 30 ms, one retransmission"}},
	} {
		systems[s.name] = s
	}
}

// missing says why a system cannot run here, or "".
func (s *system) missing(n *network) string {
	if s.apart && n.name == "" {
		return "it needs a network namespace for each node, which needs root"
	}
	if s.program == "" {
		return ""
	}
	if _, err := exec.LookPath(s.program); err != nil {
		if s.pkg == "" {
			return "the program " + s.program + " is missing (make build, and PATH)"
		}
		return fmt.Sprintf("the program %s is missing (Debian: apt-get install %s)", s.program, s.pkg)
	}
	if s.apart && loadCPG() != nil {
		return "the library " + cpgLibrary + " is missing (Debian: apt-get install libcpg4)"
	}
	return ""
}

// versionOf returns the version that a system tells.
func (s *system) versionOf() string {
	switch {
	case s.module != "":
		return moduleVersion(s.module)
	case s.version == "":
		return "this version"
	}
	text, err := exec.Command(s.program, s.version).CombinedOutput()
	if err != nil {
		return "unknown"
	}
	line, _, _ := strings.Cut(string(text), "\n")
	f := strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" ',:", r) })
	return strings.TrimPrefix(f[len(f)-1], "v")
}

// self is the path of this program.
func self() string {
	path, err := os.Executable()
	if err != nil {
		panic(err) // Linux tells it
	}
	return path
}
