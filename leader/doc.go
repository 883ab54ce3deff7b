// Package leader is the local leader service of Fetzer and Cristian: one leader in
// each logical partition, by leases that end by themselves.
//
// With leader(p,t) and supports(q,p,t) = "p leads at t and q is in p's support
// set", the service promises, under arbitrary delays, loss, duplication, stalls and
// crashes, as long as hardware clocks keep their drift bound:
//
//   - SO: a process supports at most one process at a time;
//   - LS: a leader supports itself;
//   - BI (mode [Strict]): a leader is supported by every process that has been
//     connected to it for a bounded time;
//   - Assertion 4' of Stoller (mode [Available]): once connectivity is stable,
//     every process is led, and there are no more groups than a minimum clique
//     cover of the connectivity graph needs;
//   - T: in a Δ-partition that is stable for long enough there is a leader.
//
// SO and LS imply that logical partitions never overlap and have exactly one
// leader each.
//
// Programs use package failaware, whose nodes run one [Election] each, a pure machine
// for one goroutine. [timed.Bounds] says what a Δ-partition is. Section numbers in the
// comments are those of "A Highly Available Local Leader Election Service"; the page
// docs/internals/papers.md goes through its claims.
package leader
