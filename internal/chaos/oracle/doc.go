// Package oracle judges a group of nodes by what they told the programs around them.
//
// Each program reads the common clock of the machine before and after each answer, and
// writes both readings and the answer down ([Record]). The answer held at some instant
// between the two readings. The oracle knows nothing else, and imports no code of a node:
// a mistake of the node cannot be repeated here. [Judge] returns every contradiction.
//
// It gives each answer the benefit of the doubt: two answers contradict each other only if
// they do so wherever between its readings each of them held.
package oracle
