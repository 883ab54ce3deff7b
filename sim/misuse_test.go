package sim

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestNaNRoughness(t *testing.T) {
	require.Error(t, Options{Roughness: math.NaN()}.Validate())
}

func TestNegativeProgressEvery(t *testing.T) {
	_, _, err := Campaign{Seeds: 1, Options: Options{Calm: true, Duration: time.Second}, ProgressEvery: -1}.Run(context.Background())
	require.Error(t, err)
}
