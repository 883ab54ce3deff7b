// Command failaware runs nodes of fail-aware groups and asks them.
package main

func main() { program.Main() }
