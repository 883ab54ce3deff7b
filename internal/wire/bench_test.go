package wire

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheHotPathAllocatesNothing(t *testing.T) {
	for name, p := range map[string]Packet{
		"keepalive": basePacket(), "renewal": renewalPacket(), "reply": replyPacket(), "goodbye": samples()["goodbye"],
	} {
		var e Encoder
		var d Decoder
		var got Packet
		b, err := e.Append(make([]byte, 0, 2048), &p)
		require.NoError(t, err)
		require.NoError(t, d.Decode(b, &got))
		require.Zero(t, testing.AllocsPerRun(100, func() { b, _ = e.Append(b[:0], &p) }), name)
		require.Zero(t, testing.AllocsPerRun(100, func() { _ = d.Decode(b, &got) }), name)
	}
}

func BenchmarkCodec(b *testing.B) {
	for _, c := range []struct {
		name   string
		packet Packet
	}{
		{"keepalive", basePacket()}, {"reply", replyPacket()}, {"renewal", renewalPacket()},
		{"commit of 5", commitPacket(5, fromOneView)}, {"commit of 50", commitPacket(50, fromOneView)},
	} {
		var e Encoder
		var d Decoder
		buf, err := e.Append(nil, &c.packet)
		require.NoError(b, err)
		b.Run("encode/"+c.name, func(b *testing.B) {
			b.ReportAllocs()
			b.ReportMetric(float64(len(buf)), "bytes")
			for b.Loop() {
				buf, _ = e.Append(buf[:0], &c.packet)
			}
		})
		b.Run("decode/"+c.name, func(b *testing.B) {
			b.ReportAllocs()
			var p Packet
			for b.Loop() {
				if err := d.Decode(buf, &p); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
