package main

import (
	"strings"

	"github.com/spf13/cobra"
)

// examples maps commands that are defined without examples to their examples.
var examples = map[string]string{
	"failaware": `  failaware demo
  failaware node --id 1 --listen 127.0.0.1:7001
  failaware --addr https://node1.example:7443 --ca ca.pem --token-file token status`,
	"config check": `  failaware config check node.yaml
  failaware config check --preset wan --lock-time 2s -o json`,
	"status": `  failaware status
  failaware status -o ndjson | jq .lateness`,
	"members": `  failaware members
  failaware members -o json`,
	"view": `  failaware view && echo 'the view is up to date'`,
	"leader": `  failaware leader
  failaware leader --global -o json`,
	"leader find":   `  failaware leader find --timeout 10s`,
	"leader verify": `  failaware leader verify 2`,
	"leader resign": `  failaware leader resign
  failaware leader resign --to 2`,
	"clock": `  failaware clock
  failaware clock -w --every 100ms`,
	"clock sources": `  failaware clock sources`,
	"watch": `  failaware watch
  failaware watch leader -o ndjson
  # all events that are kept, and then the end
  failaware watch all --since 0 -n 100`,
	"wait": `  failaware wait leader --timeout 1m
  failaware wait view --members 3
  failaware wait synced --bound 1ms`,
	"deliveries": `  failaware deliveries
  failaware deliveries --follow -o ndjson`,
	"lock": `  failaware lock -- backup.sh /srv
  # one in the whole network, started again with every lead
  failaware lock --global --again -- worker`,
	"config": `  failaware config check node.yaml`,
	"epoch": `  failaware epoch show
  failaware epoch change majority:2,3,4`,
	"keys": `  failaware keys list
  failaware keys install new.keys`,
	"edict": `  failaware edict create --payload decision.json
  failaware edict verify OLDER NEWER`,
	"edict show": `  failaware edict show EDICT`,
	"edict verify": `  failaware edict verify OLDER NEWER
  # in front of a store: refuse what an older leader has decided
  failaware edict verify "$EDICT" --state fence --name orders --payload decision.json`,
	"edict create": `  failaware edict create --payload decision.json`,
	"epoch show":   `  failaware epoch show`,
	"keys list":    `  failaware keys list`,
	"keys reload":  `  failaware keys reload`,
	"keys install": `  failaware keys install new.keys`,
	"keys use":     `  failaware keys use 1b2c3d4e`,
	"keys remove":  `  failaware keys remove 00068cbe`,
}

// addExamples gives examples to the commands that have none.
func addExamples(cmd *cobra.Command) {
	if cmd.Example == "" {
		_, name, below := strings.Cut(cmd.CommandPath(), " ")
		if !below {
			name = cmd.Name()
		}
		cmd.Example = examples[name]
	}
	for _, c := range cmd.Commands() {
		addExamples(c)
	}
}
