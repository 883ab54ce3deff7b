package mutant

// names lists the planted bugs that this build contains: none, unless the
// overlay of command plant replaces this file.
var names []string
