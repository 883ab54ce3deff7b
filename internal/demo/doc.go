// Package demo is the substance of the demonstration: several unmodified nodes in
// one process, which talk over real UDP on loopback, and somebody who injects
// faults between them and looks on.
//
//   - [Relay] carries the packets, and cuts and slows links.
//   - [World] starts, pauses, crashes and restarts the nodes, and keeps a journal
//     of what they say.
//   - watch checks what must always hold, all the time.
//   - [Model] is what there is to see, [Draw] makes a picture of it, and
//     [Interactive] shows that on a terminal and takes keys.
//   - [Plain] and [Tell] print lines instead: what happens, or a fixed story in
//     which every step has to come out.
//
// The terminal is tcell's: it is well kept, knows terminals including those of
// Windows, sends only what changed, restores the terminal, and comes with a
// screen for tests, all with few and small dependencies. The picture does not
// depend on it: it is drawn on a [Canvas] of cells, which can be compared as
// text.
package demo
