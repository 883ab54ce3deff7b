//go:build !linux

package member

import "time"

// Now reads the wall clock: chaos runs need Linux.
func Now() int64 { return time.Now().UnixNano() }
