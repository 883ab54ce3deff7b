// Package cli is what the command-line programs share: exit codes, error
// messages that name the program, the output flag, and tables.
package cli
