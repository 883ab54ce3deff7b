// Command failaware runs nodes of fail-aware groups and sends them requests.
package main

func main() { program.Main() }
