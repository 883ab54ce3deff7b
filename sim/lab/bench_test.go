package lab

import "testing"

// BenchmarkRun is one scenario of a minute with eight processes.
func BenchmarkRun(b *testing.B) {
	for _, a := range Algorithms() {
		b.Run(a.Name, func(b *testing.B) {
			s, err := FindScenarios("crash")
			if err != nil {
				b.Fatal(err)
			}
			for i := range b.N {
				if _, err := Run(a, s[0], uint64(i)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
