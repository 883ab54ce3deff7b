package metrics

import (
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/event"
	"github.com/failaware/failaware/internal/histogram"
)

// state collects the state of a node when it is scraped.
type state struct {
	node *failaware.Node
	Sources
	known labelSets
}

// described has all that desc has returned.
var described []*prometheus.Desc

// desc describes a metric.
func desc(name, help string, labels ...string) *prometheus.Desc {
	d := prometheus.NewDesc(prometheus.BuildFQName(namespace, "", name), help, labels, nil)
	described = append(described, d)
	return d
}

var (
	descInfo        = desc("node_info", "The node; the value is always 1.", "version", "node", "name", "group")
	descReady       = desc("ready", "Whether the node takes part: its waiting time is over.")
	descIncarnation = desc("incarnations", "Incarnations of the node in this process.")
	descAnswered    = desc("loop_answered", "Whether the loop answered the scrape. Otherwise it is stalled, and its counters are missing.")

	descLeads     = desc("leads", "Whether the node leads its logical partition.")
	descLeader    = desc("leader_id", "The id of the leader; 0 means none.")
	descLease     = desc("leader_lease_seconds", "The longest time that the answer about the leader stays up to date.")
	descGlobal    = desc("leads_globally", "Whether the node leads the whole network; missing without a quorum system.")
	descGlobally  = desc("global_leader_id", "The id of the node that leads the whole network, as this node has heard; 0 means none, missing without a quorum system.")
	descEpoch     = desc("quorum_epoch", "The number of the quorum system in use; missing without one.")
	descVoters    = desc("quorum_voters", "Voters of the quorum system in use; missing without one.")
	descVoting    = desc("quorum_voters_alive", "Those of them that are alive, as far as the node hears.")
	descFresh     = desc("view_up_to_date", "Whether the view is up to date.")
	descMembers   = desc("view_members", "Members of the view that was installed last.")
	descViewLease = desc("view_lease_seconds", "The longest time that the view stays up to date.")

	descSynced    = desc("clock_synchronized", "Whether the clock is synchronized, internally or with UTC.")
	descExternal  = desc("clock_external", "Whether the clock is proven to be close enough to UTC.")
	descDeviation = desc("clock_deviation_bound_seconds", "Proven bound of the distance from group time; missing if there is none.")
	descUTC       = desc("clock_utc_bound_seconds", "Proven bound of the distance from UTC; missing if there is none.")

	descPeers     = desc("peers", "Peers that the node knows.")
	descRefs      = desc("clock_references", "References of UTC that the node itself is to ask; missing without any.")
	descPeerAlive = desc("peer_alive", "Whether the node and the peer hear each other in time.", "peer")
	descPeerDelay = desc("peer_delay_bound_seconds", "Proven delay bound of the peer's last packet; missing if there is none.", "peer")
	descPeerLag   = desc("peer_lagging_seconds", "How long the broadcast has waited for the peer, or this node for its messages, with no progress; missing while it does not.", "peer")
	descPackets   = desc("peer_packets_total", "Packets of the peer's accepted incarnations: fast, or slow and without value.", "peer", "speed")
	descDelays    = desc("delay_bound_seconds", "Proven delay bounds of packets of accepted incarnations.")

	descLateness    = desc("loop_lateness_seconds", "How late the loop served its timers.")
	descLatenessMax = desc("loop_lateness_max_seconds", "The latest service of a timer since the start.")
	descLate        = desc("loop_late_total", "Timers that were served later than the scheduling delay of the timing.")

	descMoved      = desc("packets_total", "Packets sent and received.", "direction")
	descBytes      = desc("packet_bytes_total", "Bytes of packets sent and received.", "direction")
	descDropped    = desc("dropped_packets_total", "Packets received that do not count.", "reason")
	descErrors     = desc("socket_errors_total", "Errors of the socket.", "operation", "error")
	descUnsent     = desc("unsent_packets_total", "Packets that were not sent.", "reason")
	descCast       = desc("broadcast_dropped_total", "Parts of the broadcast that do not count.", "reason")
	descOther      = desc("other_total", "Further counters of the status.", "counter")
	descMessages   = desc("broadcast_messages_total", "Messages that were sent by this program and delivered to it.", "direction")
	descMessageLen = desc("broadcast_bytes_total", "Bytes of the payloads of those messages.", "direction")

	descAccepting   = desc("store_accepting", "Whether the store takes operations, the view is up to date, and neither a disk nor a member of the view holds them up.")
	descBehind      = desc("store_behind", "Operations that are delivered to the store and not applied yet.")
	descHeld        = desc("store_items", "What the store holds.", "item")
	descStoreBytes  = desc("store_bytes", "Bytes of the keys and values of the store.")
	descApplied     = desc("store_applied_total", "Operations of all nodes that the store has applied.")
	descSubmitted   = desc("store_submitted_total", "Operations that this node submitted: those that have a result, and those that have none.", "outcome")
	descStoreEvents = desc("store_events_total", "Events of the replicated state.", "kind")

	descHandled = desc("handler_events_total", "Events for commands and webhooks, by what became of them.", "outcome")
	descRefused = desc("api_refused_total", "Requests that the API refused because there were too many connections.")
)

// Describe implements [prometheus.Collector].
func (s *state) Describe(out chan<- *prometheus.Desc) {
	for _, d := range described {
		out <- d
	}
}

// sink collects metrics.
type sink struct {
	to      chan<- prometheus.Metric
	known   *labelSets
	samples []sample // room for those to come
}

// roomFor is for how many samples a sink makes room at once.
const roomFor = 64

func (out *sink) add(d *prometheus.Desc, kind prometheus.ValueType, v float64, labels ...string) {
	if len(out.samples) == 0 {
		out.samples = make([]sample, roomFor)
	}
	s := &out.samples[0]
	out.samples = out.samples[1:]
	s.set(d, kind, v, out.known.pairs(d, labels))
	out.to <- s
}

func (out *sink) gauge(d *prometheus.Desc, v float64, labels ...string) {
	out.add(d, prometheus.GaugeValue, v, labels...)
}

func (out *sink) count(d *prometheus.Desc, v uint64, labels ...string) {
	out.add(d, prometheus.CounterValue, float64(v), labels...)
}

func (out *sink) yes(d *prometheus.Desc, v bool, labels ...string) {
	x := 0.0
	if v {
		x = 1
	}
	out.gauge(d, x, labels...)
}

// bound is a gauge of a duration, unless the duration is not known.
func (out *sink) bound(d *prometheus.Desc, v, unknown time.Duration, labels ...string) {
	if v != unknown {
		out.gauge(d, v.Seconds(), labels...)
	}
}

func (out *sink) durations(d *prometheus.Desc, h *histogram.Durations) {
	buckets := make(map[float64]uint64, histogram.Buckets)
	sum := uint64(0)
	for i := range histogram.Buckets {
		sum += h.Counts[i]
		buckets[histogram.Bound(i).Seconds()] = sum
	}
	out.to <- prometheus.MustNewConstHistogram(d, h.Total(), h.Sum.Seconds(), buckets)
}

// Collect implements [prometheus.Collector].
func (s *state) Collect(to chan<- prometheus.Metric) {
	out := &sink{to: to, known: &s.known}
	x := s.node.Status()
	out.gauge(descInfo, 1, s.Version, x.ID.String(), x.Name, x.Group)
	out.answers(&x)
	if e := s.node.Epoch(); e.System != "" {
		global := s.node.GlobalLeader()
		out.yes(descGlobal, global.Leads)
		out.gauge(descGlobally, float64(global.Leader))
		out.gauge(descEpoch, float64(e.Epoch))
		if x.Age >= 0 {
			out.voters(&e)
		}
	}
	out.references(s.node.References())
	out.sources(&s.Sources)
	out.yes(descAnswered, x.Age >= 0)
	if x.Age >= 0 {
		out.loop(&x)
	}
}

// references collects how many references the node itself is to ask: others have no names here.
func (out *sink) references(list []failaware.ReferenceStatus) {
	own := 0
	for i := range list {
		if list[i].Name != "" {
			own++
		}
	}
	if own > 0 {
		out.gauge(descRefs, float64(own))
	}
}

// voters collects how many voters there are, and how many of them are alive.
func (out *sink) voters(e *failaware.EpochAnswer) {
	if all := e.Voters.Len(); all > 0 {
		out.gauge(descVoters, float64(all))
		out.gauge(descVoting, float64(all-e.Missing.Len()))
	}
}

// answers collects the answers of a status.
func (out *sink) answers(x *failaware.Status) {
	out.yes(descLeads, x.Leader.Leads)
	leader := failaware.NoNode
	if x.Leader.UpToDate {
		leader = x.Leader.Leader
	}
	out.gauge(descLeader, float64(leader))
	out.gauge(descLease, x.Leader.AtMost.Seconds())
	out.yes(descFresh, x.View.UpToDate)
	members := 0
	if v := x.View.View; v != nil {
		members = v.Set.Len()
	}
	out.gauge(descMembers, float64(members))
	out.gauge(descViewLease, x.View.AtMost.Seconds())
	out.yes(descSynced, x.Clock.Status != clocksync.Unsynchronized)
	out.yes(descExternal, x.Clock.Status == clocksync.External)
	out.bound(descDeviation, x.Clock.Deviation, clocksync.UnknownBound)
	out.bound(descUTC, x.Clock.UTCBound, clocksync.UnknownBound)
}

// sources collects what the node itself does not know.
func (out *sink) sources(from *Sources) {
	if from.Traffic != nil {
		t := from.Traffic()
		out.count(descMessages, t.Sent, "sent")
		out.count(descMessages, t.Delivered, "delivered")
		out.count(descMessageLen, t.SentBytes, "sent")
		out.count(descMessageLen, t.DeliveredBytes, "delivered")
	}
	if from.Handlers != nil {
		h := from.Handlers()
		out.count(descHandled, h.Handled, "handled")
		out.count(descHandled, h.Failed, "failed")
		out.count(descHandled, h.Dropped, "dropped")
	}
	if from.Refused != nil {
		out.count(descRefused, from.Refused())
	}
	if from.Store != nil {
		x := from.Store()
		out.yes(descAccepting, x.Accepting)
		out.gauge(descBehind, float64(x.Behind))
		out.gauge(descHeld, float64(x.Keys), "keys")
		out.gauge(descHeld, float64(x.Leases), "leases")
		out.gauge(descHeld, float64(x.Conflicts), "conflicts")
		out.gauge(descStoreBytes, float64(x.Bytes))
		out.count(descApplied, x.Applied)
		out.count(descSubmitted, x.Submitted, "done")
		out.count(descSubmitted, x.Failed, "failed")
		for kind, n := range x.Events {
			out.count(descStoreEvents, n, kind)
		}
	}
}

// loop collects the loop's own part of the status.
func (out *sink) loop(x *failaware.Status) {
	out.yes(descReady, x.Ready)
	out.gauge(descIncarnation, float64(x.Incarnations))
	known := 0
	for i := range x.Peers {
		p := &x.Peers[i]
		if p.ID == failaware.NoNode {
			continue
		}
		known++
		id := p.ID.String()
		out.yes(descPeerAlive, p.Alive, id)
		out.bound(descPeerDelay, p.Delay, event.UnknownDelay, id)
		out.bound(descPeerLag, max(p.Lagging, p.Missing), 0, id)
		out.count(descPackets, p.FastPackets, id, "fast")
		out.count(descPackets, p.SlowPackets, id, "slow")
	}
	out.gauge(descPeers, float64(known))
	out.durations(descDelays, &x.Delays)
	out.durations(descLateness, &x.Lateness.All)
	out.gauge(descLatenessMax, x.Lateness.Max.Seconds())
	out.count(descLate, x.Lateness.Late)
	for _, c := range x.Counters {
		out.counter(c)
	}
}

// families are the counters of the status by the beginnings of their names.
var families = []struct {
	prefix string
	desc   *prometheus.Desc
	labels []string // besides the rest of the name, before it
}{
	{"dropped_", descDropped, nil},
	{"unsent_", descUnsent, nil},
	{"broadcast_", descCast, nil},
	{"send_", descErrors, []string{"send"}},
	{"receive_", descErrors, []string{"receive"}},
}

// counter collects a counter of the status.
func (out *sink) counter(c failaware.Counter) {
	switch c.Name {
	case "sent_packets", "received_packets":
		out.count(descMoved, c.Value, strings.TrimSuffix(c.Name, "_packets"))
		return
	case "sent_bytes", "received_bytes":
		out.count(descBytes, c.Value, strings.TrimSuffix(c.Name, "_bytes"))
		return
	}
	for _, f := range families {
		if rest, ok := strings.CutPrefix(c.Name, f.prefix); ok {
			out.count(f.desc, c.Value, append(f.labels[:len(f.labels):len(f.labels)], rest)...)
			return
		}
	}
	out.count(descOther, c.Value, c.Name)
}
