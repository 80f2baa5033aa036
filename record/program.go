package record

import _ "embed"

//go:embed program.go
var programSource string

// Program is an objective that is no model's: a command, or a function of a Go program.
type Program struct {
	// the command with its arguments, in which {NAME} stands for the value of a hyperparameter; of
	// a function its name
	Command []string `json:"command"`
	// what each hyperparameter can be, and where searches start, in words
	Ranges []string `json:"ranges"`
	// how the command reads hyperparameters: "arguments" (also if empty) or "json", on standard
	// input
	Input string `json:"input,omitempty"`
	// the field of the last line that has the value; empty: that line is the value
	Field string `json:"field,omitempty"`
	// the smallest value is the best; Point.Value has its sign changed
	Minimize bool `json:"minimize,omitempty"`
}
