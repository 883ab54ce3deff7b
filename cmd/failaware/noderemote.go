package main

import (
	"net"

	"github.com/failaware/failaware/internal/api"
	"github.com/failaware/failaware/internal/cli"
)

// remoteConfig are the settings of the API for other hosts.
type remoteConfig struct {
	listen               string // HOST:PORT, or empty
	cert, key, authority string // files
}

// checkRemote checks that no host is served that does not authenticate itself.
func (c *nodeConfig) checkRemote(values source) error {
	if c.remote.listen == "" {
		for _, key := range []string{"api_tls_cert", "api_tls_key", "api_client_ca"} {
			if len(values[key]) > 0 {
				return values.fault(key, "it needs --api-listen")
			}
		}
		return nil
	}
	_, port, err := net.SplitHostPort(c.remote.listen)
	switch {
	case err != nil || port == "":
		return values.fault("api_listen", "%q is not HOST:PORT", c.remote.listen)
	case c.remote.cert == "" || c.remote.key == "":
		return values.fault("api_listen", "--api-tls-cert and --api-tls-key are needed: other hosts are served over TLS only")
	case c.remote.authority == "" && c.apiToken == "":
		return values.fault("api_listen", "--api-client-ca or --api-token is needed: other hosts must authenticate themselves")
	}
	return nil
}

// listenRemote opens the API for other hosts, if there is one.
func (r *nodeRun) listenRemote() (net.Listener, error) {
	c := r.cfg.remote
	if c.listen == "" {
		return nil, nil
	}
	r.remote = &api.Remote{Cert: c.cert, Key: c.key, ClientCA: c.authority}
	if r.cfg.apiToken != "" {
		if err := r.makeToken(); err != nil {
			return nil, cli.WrongUsage(err)
		}
		r.remote.Token = r.token
	}
	if err := r.remote.Load(); err != nil {
		return nil, cli.WrongUsage(r.cfg.values.fault("api_listen", "%w", err))
	}
	l, err := api.ListenTCP(c.listen)
	if err != nil {
		return nil, cli.Wrong("--api-listen: %w", err)
	}
	return l, nil
}

// reloadRemote reads the certificates again, if there are any.
func (r *nodeRun) reloadRemote() {
	if r.remote == nil {
		return
	}
	if err := r.remote.Load(); err != nil {
		r.log.Error("the certificates of the API stay the same", "error", err)
		return
	}
	r.log.Info("read the certificates of the API again")
}
