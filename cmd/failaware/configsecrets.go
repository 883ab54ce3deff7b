package main

import (
	"github.com/failaware/failaware/internal/api"
	"github.com/failaware/failaware/internal/loop/statedir"
	"github.com/failaware/failaware/internal/seal"
)

// checkFiles says which files, directories and addresses of this machine a node would refuse, and
// whether its state is of another group. Nothing is wrong with the settings then: on the host of
// the node, or for its user, or once its service has started, all may be there.
func (c *nodeConfig) checkFiles() (warnings []string) {
	check := func(key string, err error) {
		if err != nil {
			warnings = append(warnings, c.values.fault(key, "%w: started here by this user, the node would refuse it", err).Error())
		}
	}
	if c.KeyFile != "" {
		_, err := seal.ReadFile(c.KeyFile)
		check("key_file", err)
	}
	if c.apiToken != "" {
		check("api_token", api.CheckToken(c.apiToken))
	}
	if r := c.remote; r.listen != "" {
		remote := &api.Remote{Cert: r.cert, Key: r.key, ClientCA: r.authority}
		if c.apiToken != "" {
			remote.Token = api.TokenOf("") // no client asks
		}
		check("api_listen", remote.Load())
	}
	if c.StateDir != "" {
		o := statedir.Owner{ID: c.ID, Group: c.WithDefaults().Group, Former: c.FormerGroup}
		if err := statedir.CheckGroup(c.StateDir, o); err != nil {
			warnings = append(warnings, c.values.fault("state_dir", "%s", stateGroupText(err)).Error())
		}
	}
	if c.report != "" {
		check("report", checkReport(c.report))
	}
	c.checkMachine(check)
	return warnings
}
