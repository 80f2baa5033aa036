package record

import _ "embed"

//go:embed program.go
var programSource string

// Program is an objective that is not from a model: a command, or a function of a Go program.
type Program struct {
	// the command with its arguments, in which {NAME} stands for the value of a hyperparameter; for
	// a function, its name
	Command []string `json:"command"`
	// possible values of each hyperparameter, and the start of searches, in words
	Ranges []string `json:"ranges"`
	// constraints on the hyperparameters, as in the file
	Where []string `json:"where,omitempty"`
	// how the command reads hyperparameters: "arguments" (also if empty) or "json", on standard
	// input
	Input string `json:"input,omitempty"`
	// the field of the command's last line that has the value; empty: the whole line is the value
	Field string `json:"field,omitempty"`
	// the smallest value is the best; Point.Value has its sign changed
	Minimize bool `json:"minimize,omitempty"`
	// names of several values that are minimised together; Point.Value is the first one's
	Objectives []string `json:"objectives,omitempty"`
	// the bounds that values must stay within, as in the file
	Require string `json:"require,omitempty"`
	// the values have noise, so the best point is the one with the best expected value
	Noise bool `json:"noise,omitempty"`
	// the rule that ends trials early, as in the file; empty: they run to their end
	StopEarly string `json:"stop_early,omitempty"`
}
