//go:build mutants

package seal

import (
	"testing"

	"github.com/failaware/failaware/internal/mutant/kill"
)

func TestMutantsAreKilled(t *testing.T) {
	kill.Units(t, "internal/seal", map[string]func(testing.TB){
		"KeysOfTheCipher":     opensWhatItMay,
		"CipherOfTheAccepted": acceptedKeepsItsCipher,
		"SessionKeptTwice":    keepsTwoSessions,
		"KeysOfAPart":         longFilesAreRefused,
		"KeysInFull":          keysHide,
	})
}
