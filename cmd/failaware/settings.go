package main

import (
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/spf13/pflag"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/clocksync/clockbound"
	"github.com/failaware/failaware/internal/cli"
	"github.com/failaware/failaware/internal/handler"
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/leader/quorum"
	"github.com/failaware/failaware/timed"
)

// nodeConfig is the configuration of `failaware node`.
type nodeConfig struct {
	failaware.Config
	api          string // socket path, HOST:PORT, or "none"
	apiToken     string
	http         string // HOST:PORT of the page and the API, or empty
	remote       remoteConfig
	logLevel     hclog.Level
	logJSON      bool
	pprof        bool
	leaveTimeout time.Duration
	report       string
	handlers     []handler.Spec

	handlerTimeout time.Duration
	broadcast      bool
	cast           failaware.BroadcastConfig // used if broadcast is on
	ntp            failaware.NTPConfig       // used if it has an address
	segment        failaware.ClockBoundConfig
	kv             string // kind of the key-value store, or empty
	kvDir          string
	kvLeased       bool
	kvTrace        bool

	values   source   // the settings as they were written
	warnings []string // about settings that are probably a mistake
}

// setting can be set by a flag, in the environment, or in the file. The variable is
// FAILAWARE_ and the flag's name in capitals.
type setting struct {
	key   string // in the file; a dot leads into a section
	flag  string
	kind  string // kind of value, for help texts
	field string // of failaware.Config, by its name in errors
	usage string
	set   func(*nodeConfig, string) error
}

func (s *setting) env() string {
	switch s.kind {
	case kindPeer:
		return "FAILAWARE_PEERS"
	case kindTag:
		return "FAILAWARE_TAGS"
	}
	return "FAILAWARE_" + strings.ToUpper(strings.ReplaceAll(s.flag, "-", "_"))
}

// name returns the name of the setting if its origin is not known.
func (s *setting) name() string { return "--" + s.flag }

const (
	kindBool = "bool"
	kindPeer = "ID=HOST:PORT"
	kindTag  = "KEY=VALUE"
	kindJoin = "HOST:PORT|srv:NAME|file:PATH|multicast"

	kindServer = "HOST[:PORT]"
	kindPHC    = "DEVICE[:OFFSET[:ERROR]]"

	kindHandler = "EVENTS=COMMAND"
	kindWebhook = "EVENTS=URL"
)

// list reports whether the setting is a list of values.
func (s *setting) list() bool {
	return slices.Contains([]string{kindPeer, kindTag, kindJoin, kindServer, kindPHC, kindHandler, kindWebhook}, s.kind)
}

// parts returns the values of a list in a variable of the environment. Commands have
// spaces and commas, and lines separate them.
func (s *setting) parts(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool {
		return r == '\n' || (r == ',' || r == ' ') && s.kind != kindHandler && s.kind != kindWebhook
	})
}

// settings are all settings of a node in the order of their application: the preset
// comes before the constants that replace parts of it.
var settings = []*setting{
	{"id", "id", "1-255", "ID", "the node's id, which must be unique in the group; without it, the node chooses one that is free and keeps it in --state-dir", parsed(func(c *nodeConfig) *failaware.NodeID { return &c.ID }, timed.ParseNodeID)},
	{"name", "name", "name", "Name", "a name for people (default node-ID)", text(func(c *nodeConfig) *string { return &c.Name })},
	{"tags", "tag", kindTag, "Tags", "a word about this node for people and programs, which all members know; can be repeated", addTag},
	{"group", "group", "name", "Group", "the group's name (default \"default\")", text(func(c *nodeConfig) *string { return &c.Group })},
	{"former_group", "former-group", "name", "FormerGroup", "the name that the group had before it was renamed: a --state-dir and a --kv-dir of that group are taken over", text(func(c *nodeConfig) *string { return &c.FormerGroup })},
	{"listen", "listen", "HOST:PORT", "Listen", "the UDP address (default 127.0.0.1:0)", text(func(c *nodeConfig) *string { return &c.Listen })},
	{"peers", "peer", kindPeer, "Peers", "another node, or HOST:PORT alone if its id is not known; one is enough, more are for when it is down; can be repeated", addPeer},
	{"join", "join", kindJoin, "Join", "where members may be found: an address, a name with all its addresses, a service of the DNS, a file with HOST:PORT in each line, or a multicast group; all nodes can have the same; can be repeated", addJoin},
	{"max_peers", "max-peers", "count", "MaxPeers", "how many peers there can be (default 254)", integer(func(c *nodeConfig) *int { return &c.MaxPeers })},
	{"max_packet", "max-packet", "bytes", "MaxPacket", "size of the largest packet, the same everywhere; the MTU of all interfaces must be larger by 28 bytes, by 48 with IPv6; more than 72 members need 654 bytes, and 32 for each (default 1200)", integer(func(c *nodeConfig) *int { return &c.MaxPacket })},
	{"event_buffer", "event-buffer", "count", "EventBuffer", "how many events are kept (default 1024)", integer(func(c *nodeConfig) *int { return &c.EventBuffer })},
	{"preset", "preset", "local|lan|wan", "", "the source of all timing constants that are not set (default lan)", parsed(func(c *nodeConfig) *failaware.Timing { return &c.Timing }, timed.Preset)},

	{"timing.max_drift_ppb", "max-drift-ppb", "ppb", "MaxDrift", "ρ: every clock's largest rate error, in parts per billion; the same everywhere", number(func(c *nodeConfig) *timed.Drift { return &c.Timing.MaxDrift }, 1, uint64(timed.MaxDrift))},
	{"timing.one_way_timeout", "one-way-timeout", "duration", "OneWayTimeout", "δ: a delivery within it is timely", duration(func(c *nodeConfig) *time.Duration { return &c.Timing.OneWayTimeout })},
	{"timing.fast_threshold", "fast-threshold", "duration", "FastThreshold", "Δ: a message whose proven delay is at most this is fast; the same everywhere", duration(func(c *nodeConfig) *time.Duration { return &c.Timing.FastThreshold })},
	{"timing.min_delay", "min-delay", "duration", "MinDelay", "δmin: no remote delay is shorter; 0 is always safe", duration(func(c *nodeConfig) *time.Duration { return &c.Timing.MinDelay })},
	{"timing.scheduling_delay", "scheduling-delay", "duration", "SchedulingDelay", "σ: a timely process acts within it", duration(func(c *nodeConfig) *time.Duration { return &c.Timing.SchedulingDelay })},
	{"timing.election_period", "election-period", "duration", "ElectionPeriod", "a candidate or leader broadcasts at least this often", duration(func(c *nodeConfig) *time.Duration { return &c.Timing.ElectionPeriod })},
	{"timing.keepalive_period", "keepalive-period", "duration", "KeepalivePeriod", "every node is heard by every other at least this often, directly or through their leader; expires of every node must be more than twice the longest of the group", duration(func(c *nodeConfig) *time.Duration { return &c.Timing.KeepalivePeriod })},
	{"timing.expires", "expires", "duration", "Expires", "a peer without a message in time for this long is not alive", duration(func(c *nodeConfig) *time.Duration { return &c.Timing.Expires })},
	{"timing.lock_time", "lock-time", "duration", "LockTime", "the time for which a vote binds the voter", duration(func(c *nodeConfig) *time.Duration { return &c.Timing.LockTime })},
	{"timing.max_lock_time", "max-lock-time", "duration", "MaxLockTime", "the longest vote that this node grants (default that of the preset, or the lock time if that is longer); without a state directory never lower it", duration(func(c *nodeConfig) *time.Duration { return &c.Timing.MaxLockTime })},

	{"mode", "mode", "available|strict", "Mode", "the kind of election (default available)", parsed(func(c *nodeConfig) *failaware.Mode { return &c.Mode }, leader.ParseMode)},
	{"rank", "rank", "stable|id", "RankBy", "which candidate wins (default stable); the same everywhere, or the bounds on elections do not hold", parsed(func(c *nodeConfig) *failaware.RankBy { return &c.RankBy }, leader.ParseRankBy)},
	{"quorum", "quorum", "system", "Quorum", "leaders also lead globally, by this quorum system, the same everywhere: majority:1,2,3, weighted:1=2,2=1,3=1, grid:1,2/3,4 or explicit:1,2/2,3/1,3", parsed(func(c *nodeConfig) *quorum.System { return &c.Quorum }, parseSystem)},
	{"join_quorum", "join-quorum", kindBool, "JoinQuorum", "this node is new in a group with a quorum system: it learns the system from the other nodes, and has no quorum setting of its own", boolean(func(c *nodeConfig) *bool { return &c.JoinQuorum })},
	{"quorum_epoch", "quorum-epoch", "count", "QuorumEpoch", "the number of that quorum system, the same everywhere (default 1)", number(func(c *nodeConfig) *uint64 { return &c.QuorumEpoch }, 1, math.MaxInt64)},
	{"weight", "weight", "0-65535", "Weight", "nodes of larger weight are preferred as leaders", number(func(c *nodeConfig) *uint16 { return &c.Weight }, 0, math.MaxUint16)},
	{"collate_above", "collate-above", "count", "CollateAbove", "while this node leads a larger group than this, replies are collated along a tree (default: never)", integer(func(c *nodeConfig) *int { return &c.CollateAbove })},
	{"collate_fanout", "collate-fanout", "2-64", "CollateFanout", "how many nodes each node of the tree answers for directly (default 4)", integer(func(c *nodeConfig) *int { return &c.CollateFanout })},
	{"clock.max_deviation", "max-deviation", "duration", "Clock.MaxDeviation", "the largest deviation at which the clock counts as synchronized (default 1ms)", positive(func(c *nodeConfig) *time.Duration { return &c.Clock.MaxDeviation })},
	{"clock.max_slew_ppb", "max-slew-ppb", "ppb", "Clock.MaxSlew", "how fast the clock is corrected (default 500000)", setSlew},
	{"clock.step_threshold", "step-threshold", "duration", "Clock.StepThreshold", "a larger difference steps the clock (default 10ms)", positive(func(c *nodeConfig) *time.Duration { return &c.Clock.StepThreshold })},
	{"clock.max_utc_error", "max-utc-error", "duration", "Clock.MaxUTCError", "the largest proven distance from UTC at which the clock counts as external (default 50ms)", positive(func(c *nodeConfig) *time.Duration { return &c.Clock.MaxUTCError })},
	{"clock.min_references", "min-references", "count", "Clock.MinReferences", "how many references of the partition are needed; 2f+1 tolerate f falsetickers (default 1)", integer(func(c *nodeConfig) *int { return &c.Clock.MinReferences })},
	{"references.ntp", "ntp", kindServer, "References", "an NTP server to ask for UTC; can be repeated", addServer},
	{"references.kernel_clock", "kernel-clock", kindBool, "References", "take UTC from the kernel's clock while a program disciplines it", setKernelClock},
	{"references.phc", "phc", kindPHC, "References", "take UTC from a PTP hardware clock that is ahead of it by OFFSET (37s if it keeps TAI) and off by up to ERROR (default 1ms); can be repeated", addPHC},

	{"broadcast.on", "broadcast", kindBool, "Broadcast", "turn the atomic broadcast on; it must be on in all nodes of the group, or in none", boolean(func(c *nodeConfig) *bool { return &c.broadcast })},
	{"broadcast.window", "broadcast-window", "bytes", "Broadcast.Window", "size of the messages of a view that some members lack, the same everywhere (default 4194304)", integer(func(c *nodeConfig) *int { return &c.cast.Window })},
	{"broadcast.max_messages", "broadcast-max-messages", "count", "Broadcast.MaxMessages", "number of such messages of one sender in each class, the same everywhere (default 16384)", integer(func(c *nodeConfig) *int { return &c.cast.MaxMessages })},
	{"broadcast.max_payload", "broadcast-max-payload", "bytes", "Broadcast.MaxPayload", "size of the largest message, the same everywhere (default 1048576)", integer(func(c *nodeConfig) *int { return &c.cast.MaxPayload })},
	{"broadcast.packet_bytes", "broadcast-packet-bytes", "bytes", "Broadcast.PacketBytes", "size of the messages in one packet (default: as much as max-packet takes)", integer(func(c *nodeConfig) *int { return &c.cast.PacketBytes })},
	{"broadcast.backlog", "broadcast-backlog", "bytes", "Broadcast.Backlog", "size of deliveries that may wait for the application (default 16777216)", integer(func(c *nodeConfig) *int { return &c.cast.Backlog })},
	{"broadcast.slow_after", "broadcast-slow-after", "duration", "Broadcast.SlowAfter", "how long the backlog may be larger; after twice as long the node leaves its view (default 1s)", positive(func(c *nodeConfig) *time.Duration { return &c.cast.SlowAfter })},
	{"broadcast.require_quorum", "broadcast-require-quorum", kindBool, "Broadcast.RequireQuorum", "order messages only in views that hold a quorum, as --quorum says; the same everywhere", boolean(func(c *nodeConfig) *bool { return &c.cast.RequireQuorum })},
	{"broadcast.send_only", "broadcast-send-only", kindBool, "", "keep no deliveries", boolean(func(c *nodeConfig) *bool { return &c.cast.SendOnly })},

	{"kv.kind", "kv", "linearizable|partitionable", "", "serve a key-value store, the same kind at all nodes; linearizable needs --quorum, and answers where the quorum is; partitionable goes on in every part of a split group", setStore},
	{"kv.dir", "kv-dir", "directory", "Storage", "directory that keeps the store; either all nodes have one, or none; linearizable also needs --state-dir (default: in memory only)", text(func(c *nodeConfig) *string { return &c.kvDir })},
	{"kv.leased_reads", "kv-leased-reads", kindBool, "", "answer reads of the store by the lease of the view, without a message to the others, as long as all clocks keep max-drift-ppb", boolean(func(c *nodeConfig) *bool { return &c.kvLeased })},
	{"kv.trace", "kv-trace", kindBool, "", "show the instants of each operation of the store at GET /v1/deliveries, for traces", boolean(func(c *nodeConfig) *bool { return &c.kvTrace })},

	{"ntp.listen", "ntp-listen", "HOST:PORT", "NTP.Listen", "answer NTP clients at this UDP address (default off)", text(func(c *nodeConfig) *string { return &c.ntp.Listen })},
	{"ntp.stratum", "ntp-stratum", "1-15", "NTP", "the stratum that the NTP server announces (default 4)", number(func(c *nodeConfig) *uint8 { return &c.ntp.Stratum }, 1, 15)},
	{"clockbound.path", "clockbound", "file", "ClockBound.Path", "keep a ClockBound segment (version 2) in this file (default off)", text(func(c *nodeConfig) *string { return &c.segment.Path })},
	{"clockbound.max_slew_ppb", "clockbound-max-slew-ppb", "ppb", "ClockBound.MaxSlew", "how fast the kernel's clock is slewed at most (default 500000; chrony: 83333000)", number(func(c *nodeConfig) *int64 { return &c.segment.MaxSlew }, 0, clockbound.MaxSlew)},

	{"state_dir", "state-dir", "directory", "StateDir", "directory for the state that must outlive the process; recommended (default $STATE_DIRECTORY, which systemd sets)", text(func(c *nodeConfig) *string { return &c.StateDir })},
	{"key_file", "key-file", "file", "KeyFile", "file with the keys of the group, made by failaware keygen; without it only loopback addresses may be used", text(func(c *nodeConfig) *string { return &c.KeyFile })},
	{"insecure", "insecure", kindBool, "Insecure", "allow addresses other than loopback without a key file, although packets are not authenticated", boolean(func(c *nodeConfig) *bool { return &c.Insecure })},
	{"awake", "awake", kindBool, "Awake", "keep idle processors of the machine from sleeping: handles packets sooner, at the price of power; needs Linux and write access to /dev/cpu_dma_latency", boolean(func(c *nodeConfig) *bool { return &c.Awake })},
	{"api", "api", "PATH|HOST:PORT|none", "", "the local API: a unix socket, or a loopback TCP address (default as --addr)", text(func(c *nodeConfig) *string { return &c.api })},
	{"http", "http", "HOST:PORT", "", "serve the dashboard and the API to browsers at this loopback address, besides --api (default off)", text(func(c *nodeConfig) *string { return &c.http })},
	{"api_token", "api-token", "file", "", "file with the token for a TCP address of the API; created if it does not exist, read again at SIGHUP; --http without it makes a token for each run", text(func(c *nodeConfig) *string { return &c.apiToken })},
	{"api_listen", "api-listen", "HOST:PORT", "", "answer other hosts too, over TLS at this TCP address, if they show a certificate or the token (default off)", text(func(c *nodeConfig) *string { return &c.remote.listen })},
	{"api_tls_cert", "api-tls-cert", "file", "", "the certificate for --api-listen, with the names that clients use; read again at SIGHUP", text(func(c *nodeConfig) *string { return &c.remote.cert })},
	{"api_tls_key", "api-tls-key", "file", "", "its key", text(func(c *nodeConfig) *string { return &c.remote.key })},
	{"api_client_ca", "api-client-ca", "file", "", "the authorities of the certificates of clients; with --api-token clients may also show that", text(func(c *nodeConfig) *string { return &c.remote.authority })},
	{"handlers.commands", "handler", kindHandler, "", "run a command of the shell at events: kinds or topics, as in elected,lead-lost=/usr/bin/notify; can be repeated", addHandler(handler.ParseCommand)},
	{"handlers.webhooks", "webhook", kindWebhook, "", "post events to a URL; can be repeated", addHandler(handler.ParseWebhook)},
	{"handlers.timeout", "handler-timeout", "duration", "", "how long a command or a webhook may take for one event (default 30s)", limited(func(c *nodeConfig) *time.Duration { return &c.handlerTimeout })},
	{"log.level", "log-level", "trace|debug|info|warn|error|off", "", "how much is logged (default info)", setLevel},
	{"pprof", "pprof", kindBool, "", "answer profiles of the process at /debug/pprof/ of the API", boolean(func(c *nodeConfig) *bool { return &c.pprof })},
	{"log.json", "log-json", kindBool, "", "log JSON", boolean(func(c *nodeConfig) *bool { return &c.logJSON })},
	{"leave_timeout", "leave-timeout", "duration", "", "how long leaving may take (default 5s more than the lock time)", limited(func(c *nodeConfig) *time.Duration { return &c.leaveTimeout })},
	{"report", "report", "file", "", "append every lease and up-to-date view that the node claims, for audits", text(func(c *nodeConfig) *string { return &c.report })},
}

func text(at func(*nodeConfig) *string) func(*nodeConfig, string) error {
	return func(c *nodeConfig, s string) error { return takeText(at(c), s) }
}

// takeText is not part of text, which the compiler inlines once for each setting.
func takeText(to *string, s string) error {
	if s == "" {
		return errors.New("it is empty")
	}
	*to = s
	return nil
}

func parsed[T any](at func(*nodeConfig) *T, parse func(string) (T, error)) func(*nodeConfig, string) error {
	return func(c *nodeConfig, s string) (err error) {
		*at(c), err = parse(s)
		return err
	}
}

func number[T ~int | ~int64 | ~uint8 | ~uint16 | ~uint64](at func(*nodeConfig) *T, low, high uint64) func(*nodeConfig, string) error {
	return func(c *nodeConfig, s string) error {
		n, err := parseNumber(s, low, high)
		if err == nil {
			*at(c) = T(n)
		}
		return err
	}
}

func parseNumber(s string, low, high uint64) (uint64, error) {
	n, err := strconv.ParseUint(s, 10, 64)
	switch {
	case err == nil && n >= low && n <= high:
		return n, nil
	case errors.Is(err, strconv.ErrRange) || err == nil && n > high && high >= math.MaxInt32:
		return 0, fmt.Errorf("%q is more than %d", s, high)
	case high >= math.MaxInt32:
		return 0, fmt.Errorf("%q is not a number from %d on", s, low)
	}
	return 0, fmt.Errorf("%q is not a number from %d to %d", s, low, high)
}

func integer(at func(*nodeConfig) *int) func(*nodeConfig, string) error {
	return number(at, 1, math.MaxInt32)
}

func boolean(at func(*nodeConfig) *bool) func(*nodeConfig, string) error {
	return func(c *nodeConfig, s string) error { return takeBoolean(at(c), s) }
}

// takeBoolean is not part of boolean, as takeText is not of text.
func takeBoolean(to *bool, s string) error {
	switch s {
	case "true", "1":
		*to = true
	case "false", "0":
		*to = false
	default:
		return fmt.Errorf("%q is neither true nor false", s)
	}
	return nil
}

// parseDuration lets those who check a setting refuse a duration that is far too long: they
// know how long it may be.
func parseDuration(s string) (time.Duration, error) {
	d, err := cli.ParseDuration(s)
	if err != nil && !errors.Is(err, cli.ErrLongDuration) {
		return 0, fmt.Errorf("%q is not a duration with a unit, as in 80ms", s)
	}
	return d, nil
}

func duration(at func(*nodeConfig) *time.Duration) func(*nodeConfig, string) error {
	return parsed(at, parseDuration)
}

func positive(at func(*nodeConfig) *time.Duration) func(*nodeConfig, string) error {
	return func(c *nodeConfig, s string) error {
		d, err := parseDuration(s)
		if err == nil && d <= 0 {
			err = fmt.Errorf("%s is not above 0", s)
		}
		*at(c) = d
		return err
	}
}

// maxTimeout is the longest time that a handler or leaving may take.
const maxTimeout = 24 * time.Hour

func limited(at func(*nodeConfig) *time.Duration) func(*nodeConfig, string) error {
	return func(c *nodeConfig, s string) error {
		err := positive(at)(c, s)
		if err == nil && *at(c) > maxTimeout {
			err = fmt.Errorf("%s is more than %v", s, maxTimeout)
		}
		return err
	}
}

func addPeer(c *nodeConfig, s string) error {
	p := failaware.Peer{Addr: s}
	if id, addr, found := strings.Cut(s, "="); found {
		var err error
		if p.ID, err = timed.ParseNodeID(id); err != nil {
			return fmt.Errorf("%q: %w", s, err)
		}
		p.Addr = addr
	}
	c.Peers = append(c.Peers, p)
	return nil
}

func addTag(c *nodeConfig, s string) error {
	key, value, found := strings.Cut(s, "=")
	if !found {
		return fmt.Errorf("%q is not KEY=VALUE, as in zone=eu-1", s)
	}
	if _, again := c.Tags[key]; again {
		return fmt.Errorf("%q: there is another value of %s", s, key)
	}
	if c.Tags == nil {
		c.Tags = map[string]string{}
	}
	c.Tags[key] = value
	return nil
}

func addJoin(c *nodeConfig, s string) error {
	c.Join = append(c.Join, s)
	return nil
}

func setSlew(c *nodeConfig, s string) error {
	if s == "0" {
		return errors.New("0 would never correct the clock")
	}
	return number(func(c *nodeConfig) *int64 { return &c.Clock.MaxSlew }, 1, clocksync.MaxSlewLimit)(c, s)
}

func setLevel(c *nodeConfig, s string) error {
	if c.logLevel = hclog.LevelFromString(s); c.logLevel == hclog.NoLevel {
		return fmt.Errorf("%q is none of trace, debug, info, warn, error, off", s)
	}
	return nil
}

// raw is a value of a setting as written, and its origin.
type raw struct{ text, origin string }

// source maps the keys of settings to their values in one origin.
type source map[string][]raw

// settingFlags collects the values of the flags, one flag for each setting.
type settingFlags struct{ source }

func (f *settingFlags) register(flags *pflag.FlagSet) {
	f.source = source{}
	for _, s := range settings {
		flag := flags.VarPF(&settingValue{s, f.source}, s.flag, "", s.usage)
		if s.kind == kindBool {
			flag.NoOptDefVal = "true"
		}
	}
}

// settingValue collects the values of a flag.
type settingValue struct {
	s  *setting
	to source
}

func (v *settingValue) String() string { return "" }
func (v *settingValue) Type() string {
	if v.s.kind == kindBool {
		return "bool" // shown without a value
	}
	return v.s.kind
}

// Collects reports whether the flag may be repeated.
func (v *settingValue) Collects() bool { return v.s.list() }

func (v *settingValue) Set(text string) error {
	v.to[v.s.key] = append(v.to[v.s.key], raw{text, "--" + v.s.flag})
	return nil
}

// environment returns the settings of the environment.
func environment() source {
	from := source{}
	for _, s := range settings {
		v, set := os.LookupEnv(s.env())
		if !set || v == "" {
			continue
		}
		parts := []string{v}
		if s.list() {
			parts = s.parts(v)
		}
		for _, p := range parts {
			from[s.key] = append(from[s.key], raw{p, s.env()})
		}
	}
	return from
}
