// Package lab is an election laboratory: the algorithms of the textbooks, each a
// small pure machine, run in the simulator's world beside the platform's own
// local election, with the same links, clocks, faults and seeds; and the
// specifications of the literature, as checkers that see every process at one
// instant of true time.
//
// [Algorithms] lists the algorithms, [Scenarios] their conditions, and [Specs] their
// possible promises. [Compare] runs algorithms in scenarios with a number of seeds and
// measures. Everything is a function of its arguments and the seed. The package is for one
// goroutine per run.
package lab
