// Package oracle judges a group of nodes by their answers to the programs around them.
//
// Each program reads the common clock of the machine before and after each answer, and logs
// both readings and the answer ([Record]). The answer held at some instant between the two
// readings. The oracle knows nothing else, and imports no code of a node, so that it cannot
// repeat a mistake of the node. [Judge] returns every contradiction.
//
// Each answer has the benefit of the doubt: two answers contradict each other only if they do
// so for all instants between their readings at which they may have held.
package oracle
