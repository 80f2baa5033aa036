package schedule

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/search"
)

// mostRemembered is the number of answers that a process remembers.
const mostRemembered = 4096

// answers has answers of strategies that fit models to histories. Every call of Ask and Tell
// replays a search from its first trial, and would fit the models of all its proposals again.
var answers = struct {
	sync.Mutex
	of map[[sha256.Size]byte][]search.Proposal
}{of: map[[sha256.Size]byte][]search.Proposal{}}

// remembered returns s.ask(told), from memory if the same strategy was asked with the same history
// before. The answer is a function of study and history.
func (s *Study) remembered(told []record.Trial) []search.Proposal {
	if !search.FitsModel(s.Strategy) {
		return s.ask(told)
	}
	history, err := json.Marshal(told)
	if err != nil {
		return s.ask(told)
	}
	key := sha256.Sum256(fmt.Appendf(history, "%s %v %#v", s.Key, s.Preliminary, s.Strategy))
	answers.Lock()
	next, known := answers.of[key]
	answers.Unlock()
	if !known {
		next = s.ask(told)
		answers.Lock()
		defer answers.Unlock()
		if len(answers.of) == mostRemembered {
			clear(answers.of)
		}
		answers.of[key] = next
	}
	return slices.Clone(next)
}
