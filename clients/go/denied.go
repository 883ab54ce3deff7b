package client

import (
	"crypto/tls"
	"errors"
	"net"
	"net/http"
)

// Denied reports whether an error says that client and node do not accept each other: the node
// refuses the token or certificate of the client, or one of them does not trust the other. Nothing
// was carried out, and no later attempt is better until somebody changes what one of them is given.
func Denied(err error) bool {
	if e, ok := errors.AsType[*refusedError](err); ok {
		return e.code == http.StatusUnauthorized || e.code == http.StatusForbidden
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return true
	}
	op, ok := errors.AsType[*net.OpError](err)
	alerted := ok && op.Op == "remote error" // the node says over TLS why it closes the connection
	return alerted || errors.Is(err, ErrUntrusted) || errors.Is(err, http.ErrSchemeMismatch)
}
