// Package swept switches on the small changes that command sweep has made in copies of
// the code. Only such a build links it.
package swept

import (
	"cmp"
	"os"
	"slices"
	"strconv"
)

// Variable names the environment variable that selects a change, by its number.
const Variable = "FAILAWARE_SWEEP"

var active = number(os.Getenv(Variable))

func number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		return -1
	}
	return n
}

// On reports whether the change with a number is switched on.
func On(n int) bool { return n == active }

// Field returns v or, with the change, the zero value.
func Field[T any](n int, v T) T {
	if On(n) {
		var none T
		return none
	}
	return v
}

// Number is the type of an operand of arithmetic.
type Number interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uintptr | ~float32 | ~float64
}

// Add returns a + b or, with the change, a − b.
func Add[T Number](n int, a, b T) T {
	if On(n) {
		return a - b
	}
	return a + b
}

// Sub returns a − b or, with the change, a + b.
func Sub[T Number](n int, a, b T) T {
	if On(n) {
		return a + b
	}
	return a - b
}

// Mul returns a · b or, with the change, a / b.
func Mul[T Number](n int, a, b T) T {
	if On(n) {
		return a / b
	}
	return a * b
}

// Div returns a / b or, with the change, a · b.
func Div[T Number](n int, a, b T) T {
	if On(n) {
		return a * b
	}
	return a / b
}

// Neg returns −a or, with the change, a.
func Neg[T Number](n int, a T) T {
	if On(n) {
		return a
	}
	return -a
}

// Min returns the least of some values or, with the change, the largest.
func Min[T cmp.Ordered](n int, a ...T) T {
	if On(n) {
		return slices.Max(a)
	}
	return slices.Min(a)
}

// Max returns the largest of some values or, with the change, the least.
func Max[T cmp.Ordered](n int, a ...T) T {
	if On(n) {
		return slices.Min(a)
	}
	return slices.Max(a)
}

// Pick returns f or, with the change, g.
func Pick[T any](n int, f, g T) T {
	if On(n) {
		return g
	}
	return f
}
