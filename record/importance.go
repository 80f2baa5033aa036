package record

import _ "embed"

//go:embed importance.go
var importanceSource string

// Importance is the permutation importance of an input: the mean loss of log₂ p(y_i|x_i), in bits
// per case, if the input's values come from other cases (Breiman 2001; Fisher, Rudin & Dominici
// 2019, J. Mach. Learn. Res. 20(177), Eq. 3.5). Lo and Hi are its 95 % interval over cases and
// permutations. Noise is the level of noise: the importance that a planted random column with the
// values of the input in random order exceeds with a probability of 5 %.
type Importance struct {
	Input string `json:"input"` // column of the file
	Bits  Number `json:"bits"`  // mean loss with shuffled values, bits per case
	Lo    Number `json:"lo"`    // lower end of the 95 % interval, bits per case
	Hi    Number `json:"hi"`    // upper end of the 95 % interval, bits per case
	Noise Number `json:"noise"` // level of noise, bits per case
}

// Drivers are the importances of the inputs for the held-out predictions of an answer. Each case is
// predicted by the fit that does not know it.
type Drivers struct {
	// SHA-256 of the held-out predictions that the importances belong to
	Of      string       `json:"of"`
	Cases   int          `json:"cases"`             // number of held-out cases that were permuted
	Repeats int          `json:"repeats"`           // number of permutations of each input
	Inputs  []Importance `json:"inputs"`            // the most important first
	Missing string       `json:"missing,omitempty"` // why there are no importances
	Unequal *Unequal     `json:"unequal,omitempty"` // an input on which the size of errors depends
}

// Unequal is the dependence of the size of standardized errors of numeric predictions on an input.
type Unequal struct {
	Input string `json:"input"` // column of the file
	Rho   Number `json:"rho"`   // rank correlation of the size of the errors with the input
	P     Number `json:"p"`     // p value of no dependence, times the number of inputs
	// fraction of the targets in their 95 % intervals, in the third of the cases with the lowest
	// values of the input
	Low  Number `json:"low"`
	High Number `json:"high"` // likewise in the third with the highest values
}
