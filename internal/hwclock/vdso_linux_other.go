//go:build linux && !amd64

package hwclock

func vdsoSource() (s source, ok bool) { return nil, false }
