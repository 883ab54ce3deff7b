// Package lint holds the alerts and the Grafana dashboard of failaware against the parser
// and the engine of Prometheus, as promtool does. It is a module of its own, because
// Prometheus needs many modules.
package lint
