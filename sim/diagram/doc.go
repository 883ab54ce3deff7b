// Package diagram draws a run of a group of nodes as a space-time diagram: the
// picture for a bug report, a slide or a page of documentation. It takes plain
// data (a Run), and writes SVG. [Of] makes a Run of a
// recording of the simulator.
//
// # How to read the picture
//
// Time runs from left to right. Every node has a lane; its name and id stand
// at the left. In a lane, from top to bottom:
//
//   - the lease of a leader: a strong bar, one colour per leader, labelled with
//     the set of nodes that support it;
//   - the vote (lock): a thin bar in the colour of the leader it is bound to;
//   - the view: a pale bar, one colour per view id, hatched where it is stale.
//
// A grey patch is a node that is down, a hatched frame one that stalls.
// Between the lanes run the messages: solid and thin if fast, dashed if slow,
// and ending in a cross on their way if lost. A message passes under the lanes
// between its ends. Marks of one node sit on top of its lane: triangles are
// faults, ticks events, dots messages of the application. Marks of the whole
// group are vertical lines with their text above the lanes. A violation is a
// red line through all lanes with its text on a red flag, and nothing else in
// the picture is red. The colours remain distinct for the colour blind, and
// neighbours in the palette differ in grey too.
//
// # Rules for leaving out
//
// No two texts overlap. A bar's label is drawn if it fits into the part of the
// bar that shows; else its first word, if that fits; else nothing. Labels of
// marks go to the nearest row where they touch no other text, first to the
// right of the mark, then to its left; above the lanes a label may interrupt
// the line of another mark, but never that of a violation. If all rows are
// taken, the label is dropped and the mark stays. Violations choose first, then
// faults, events, and application marks, and labels of messages last, in
// pictures of at most MaxLabelledMessages messages. Bars and marks that would share their
// pixels with another one of the same row are drawn once. Of more than
// MaxMessages messages, keepalives are thinned first, then all others, evenly.
// A line below the picture has the numbers of missing messages and labels.
// Everything drawn also carries its full text as a tooltip.
//
// Pictures are deterministic: the same Run and Options give the same bytes.
// Text stays text in the fonts of the viewer. Its width is fixed, so that every
// viewer shows the same layout.
package diagram
