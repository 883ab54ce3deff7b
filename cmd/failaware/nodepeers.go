package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/event"
	"github.com/failaware/failaware/internal/api"
	"github.com/failaware/failaware/internal/cli"
)

// reload reads the keys, the token and certificates again, and then the settings, and adopts
// the list of peers.
func (r *nodeRun) reload() {
	notifySystemd(reloadingState())
	defer notifySystemd("READY=1")
	r.reloadKeys()
	r.reloadToken()
	r.reloadRemote()
	c, _, err := loadConfig(r.file, r.flags)
	if err == nil {
		err = r.node.SetPeers(c.Peers)
	}
	if err != nil {
		r.log.Error("the peers stay the same", "error", err)
		return
	}
	if changed := changedSettings(r.cfg.values, c.values); len(changed) > 0 {
		r.log.Warn("settings other than the peers changed; they need a restart", "settings", strings.Join(changed, ", "))
	}
	r.cfg.Peers = c.Peers
	r.log.Info("read the peers again", "count", len(c.Peers))
}

// changedSettings returns the keys of the settings besides the peers that are written in
// another way, or in one of two only. Where they are written makes no difference.
func changedSettings(before, after source) (changed []string) {
	for _, s := range settings {
		if s.kind != kindPeer && textsOf(before[s.key]) != textsOf(after[s.key]) {
			changed = append(changed, s.key)
		}
	}
	return changed
}

func textsOf(values []raw) (texts string) {
	for i := range values {
		texts += values[i].text + "\n"
	}
	return texts
}

// reloadPatience is how long the node may take to adopt keys.
const reloadPatience = 2 * time.Second

var errStuck = errors.New("the loop takes no turns: it waits for a disk or a processor")

// reloadKeys reads the key file again, if there is one.
func (r *nodeRun) reloadKeys() {
	if r.cfg.KeyFile == "" {
		return
	}
	// Meanwhile nobody reads the signals that end the node.
	ctx, cancel := context.WithTimeoutCause(context.Background(), reloadPatience, errStuck)
	defer cancel()
	if err := r.node.ReloadKeys(ctx); err != nil {
		r.log.Error("the keys stay the same", "error", err)
	}
}

// patience is how long a warning about silent peers waits beyond the time in which they
// should be heard.
const patience = 5 * time.Second

// warnAboutPeers warns once about listed peers that were not heard since the start, and
// always of packets that do not count, and of what [peerWatch] sees. Silence is not an error,
// because nodes start at different times.
func (r *nodeRun) warnAboutPeers() {
	said := map[saying]bool{}
	first := func(s *failaware.Status, said map[saying]bool) {
		r.warnOf(s, said)
		r.warnOfReferences(r.node.References())
	}
	var watch peerWatch
	for wait, warn := r.bounds.Rejoin+patience, first; ; wait, warn = patience, r.warnOfRefused {
		began := time.Now()
		select {
		case <-r.node.Done():
			return
		case <-time.After(wait):
		}
		watch.slept(r, time.Since(began), wait)
		s := r.node.Status()
		watch.look(r, &s, time.Now())
		warn(&s, said)
	}
}

// warnOfReferences warns of references that this node asks and that have given no time since the
// start. An event only tells that UTC is not known any more.
func (r *nodeRun) warnOfReferences(list []failaware.ReferenceStatus) {
	for i := range list {
		if x := &list[i]; x.Name != "" && x.Samples == 0 {
			r.log.Warn("a reference gives no time", "reference", x.Name, "why", cmp.Or(x.Error, x.Reason, "it does not answer"))
		}
	}
}

// warnOf warns about what a status says of peers, if it says anything.
func (r *nodeRun) warnOf(s *failaware.Status, said map[saying]bool) {
	if s.Age < 0 {
		return // nothing is known of peers
	}
	for i := range s.Peers {
		p := &s.Peers[i]
		if p.Alive || p.Listed == "" {
			continue
		}
		r.log.Warn("a peer is not alive", "peer", peerName(p), "address", p.Listed, "why", whySilent(p, s))
		if p.Refused != "" {
			said[sayingOf(s, p)] = true
		}
	}
	if s.Alive.Empty() {
		r.warnAlone(s)
	}
	r.warnOfRefused(s, said)
}

// saying is that packets from an address do not count, and what kind of reason they give.
type saying struct{ address, kind string }

// sayingOf is what is said of the packets of a peer. Of the reason, it leaves out the key and the
// version: senders choose them.
func sayingOf(s *failaware.Status, p *failaware.PeerStatus) saying {
	return saying{addressOf(p), p.Ignored + strings.TrimPrefix(api.Refusal(s, p), p.Refused)}
}

// mostRefused is of how many addresses that are not listed a warning says that their packets do
// not count: senders of such packets can choose them.
const mostRefused = 64

// warnOfRefused warns about packets of nodes that are incompatible or do not have the key of
// this node's packets, which no event names, once for each address and kind of reason until a
// peer is alive there.
func (r *nodeRun) warnOfRefused(s *failaware.Status, said map[saying]bool) {
	for i := range s.Peers {
		p := &s.Peers[i]
		if p.Alive {
			maps.DeleteFunc(said, func(x saying, _ bool) bool { return x.address == addressOf(p) })
			continue
		}
		x, why := sayingOf(s, p), api.Refusal(s, p)
		if why != "" && (p.Incompatible || why != p.Refused) && !said[x] && (p.Listed != "" || len(said) < mostRefused) {
			said[x] = true
			r.log.Warn("packets do not count", "address", x.address, "why", inFlags(why))
		}
	}
}

func addressOf(p *failaware.PeerStatus) string { return cmp.Or(p.Listed, p.Addr.String()) }

// noAnswer is why members may not answer.
const noAnswer = "none runs there, packets are lost, or keys differ, which its status says"

// warnAlone says what --join has led to, while nobody is heard.
func (r *nodeRun) warnAlone(s *failaware.Status) {
	for _, j := range s.Join {
		if j.Self && j.Problem == "" {
			continue // the first node of a group is alone
		}
		why := cmp.Or(j.Problem, ignoredAt(s, j.Addresses), j.Unsent, "no member answers at "+fmt.Sprint(j.Addresses)+": "+noAnswer)
		r.log.Warn("this node is alone: --join has led to nobody", "join", j.Source, "why", why)
	}
}

// ignoredAt says why a node that answers at one of the addresses is ignored, or "".
func ignoredAt(s *failaware.Status, addresses []netip.AddrPort) string {
	for i := range s.Peers {
		p := &s.Peers[i]
		if why := cmp.Or(p.Mismatch.String(), api.Refusal(s, p)); why != "" && slices.Contains(addresses, p.Addr) {
			return fmt.Sprintf("the node at %v answers, and is ignored: %s", p.Addr, inFlags(why))
		}
	}
	return ""
}

func peerName(p *failaware.PeerStatus) string {
	if p.ID == failaware.NoNode {
		return "of unknown id"
	}
	return p.ID.String()
}

// whySilent returns the known reason why a peer is not alive.
func whySilent(p *failaware.PeerStatus, s *failaware.Status) string {
	other := api.AtItsAddress(s, p)
	switch {
	case p.Problem != "":
		return p.Problem
	case p.Addr.IsValid() && p.Addr == s.Addr:
		return "it is listed at the address of this node itself"
	case len(p.Mismatch) > 0:
		return "it is ignored: " + inFlags(p.Mismatch.String())
	case p.Fault:
		return "its clock and this node's clock contradict the drift bound"
	case p.Refused != "":
		return "its packets come, and do not count: " + inFlags(api.Refusal(s, p))
	case p.Unsent != "":
		return p.Unsent
	case p.Refuses:
		return "it takes another process for this node: the former one, which it forgets after its --expires, or one with the same id"
	case p.Deaf:
		return "it is heard, and does not say that it hears this node: perhaps no packets get through to " + p.Addr.String()
	case other != "":
		return other
	case p.LastFast >= 0:
		return "its last packet in time came " + cli.Brief(p.LastFast) + " ago"
	case p.Delay != event.UnknownDelay && !p.Fast:
		return fmt.Sprintf("its packets take up to %s, and only %v is fast", cli.BriefUp(p.Delay), s.Timing.FastThreshold)
	}
	return "it is silent: it does not run, does not list this node, or packets do not get through"
}
