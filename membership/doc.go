// Package membership is the fail-aware membership service. The support sets of leaders
// seed its views. A view names a group and its members. Every node knows, by reading its
// hardware clock, whether its view is up to date. Section X of Fetzer and Cristian,
// "A Highly Available Local Leader Election Service", names logical partitions as the
// basis of such a service; docs/internals/protocol.md has the rules.
//
// It promises:
//
//   - M1 agreement: a view id determines members and lineage;
//   - M2 self-inclusion: a node is a member of its view;
//   - M3 view ids grow at each incarnation;
//   - M4 exclusion: at any real time, the up-to-date views of any two nodes are
//     the same view or have no member in common;
//   - M5 timeliness: in a Δ-partition ([timed.Bounds]) that is stable for long enough all
//     members have the same up-to-date view, and it is the whole partition;
//   - M6 second chance: one lost or late message never excludes a member;
//   - M7 fail-awareness: "up to date" is a local predicate, which is true for no
//     longer than the lease.
//
// A view comes about in two rounds. The leader proposes it, and commits it once all its
// members have acknowledged the proposal (lead.go). A member acknowledges, and installs
// the view when it hears of the commit (member.go). From then on the leader renews the
// view's lease with every request.
//
// Programs use package failaware, whose nodes run one [Service] each, a pure machine for
// one goroutine. Their answers and events have a [View].
package membership
