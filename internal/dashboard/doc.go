// Package dashboard has the web page that shows a group live: its nodes and links,
// leaders, views, clocks, and events with their reasons.
//
// The page is plain HTML, CSS and JavaScript modules, embedded into the program. It loads
// nothing from other places, and its policy tells browsers to refuse everything that is
// not from the same server. It reads the local API of a node ([source.js] lists the
// paths), or that of the demonstration, which knows all nodes and injects faults.
//
// The charts are drawn by uPlot, whose licence is beside it. Scripts and styles are embedded
// compressed: after a change in assets, `go test ./internal/dashboard -run Packed -update`.
//
// [source.js]: assets/source.js
package dashboard
