package peers

import "strings"

// Reason returns the text of an error of a lookup, which is the same for the same problem: without
// the port that the question came from, another one each time.
func Reason(err error) string {
	words := strings.Split(err.Error(), " ")
	for i, word := range words {
		if _, server, ok := strings.Cut(word, "->"); ok {
			words[i] = server
		}
	}
	return strings.Join(words, " ")
}
