// Package demo implements the demonstration: several unmodified nodes in one process,
// which communicate over real UDP on loopback, while a user injects faults between them
// and watches.
//
//   - [Relay] carries the packets, and cuts and slows links.
//   - [World] starts, pauses, crashes and restarts the nodes, and keeps a journal of
//     their events.
//   - watch checks the invariants all the time.
//   - [Model] is the visible state, [Draw] makes a picture of it, and [Interactive] shows
//     the picture on a terminal and takes keys.
//   - [Plain] and [Tell] print lines instead: events, or a fixed story in which every
//     step must succeed.
//
// The terminal library is tcell: it is well maintained, supports many terminals
// including those of Windows, sends only changes, restores the terminal, and has a
// screen for tests, all with few and small dependencies. The picture does not depend on
// it: it is drawn on a [Canvas] of cells, which tests compare as text.
package demo
