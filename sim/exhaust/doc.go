// Package exhaust explores every behaviour of a small group up to a bound,
// where package sim draws some behaviours of a large one at random.
//
// Two to four nodes run the real stack. Every message that they send has three
// fates: it arrives in time, it arrives just after the fast threshold Δ (so it
// is slow), or it is lost; with [Options.VeryLate] a fourth one, after every
// lease. Simultaneous events at a node happen in every order.
// Processes may crash, stall and resign within a budget. Clocks run at the ends of what
// ρ allows. The search is breadth-first by the number of messages whose fate
// was chosen, so that the first violation has a path with the fewest of them,
// and states that are the same up to a shift of time are explored once. Every
// leaf of the search, and every state after the last fault that may be, goes on
// calmly and must come to rest within the bounds of [timed.Timing.Validate].
//
// The checks share no code with those of package sim, so that they do not share its
// mistakes. They need only the present claims of the nodes, so that no history can be
// lost when states merge.
//
// The state of a node is read and written by reflection over all its fields. A
// new field of any layer becomes part of the state without further work; exceptions are
// listed by name, with the reason (fields.go).
package exhaust
