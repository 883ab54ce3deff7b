// Package cli is shared by the command-line programs: exit codes, error messages that
// name the program, the output flag, and tables.
package cli
