package record

import (
	"encoding/json"
	"strings"
)

// Component is a kernel, a likelihood or the like as declared in a file: its text with its meaning.
// In JSON it is the text only; Manifest.Components has the meaning of each text once.
type Component struct {
	Text string // YAML flow text
	Node
}

// Node is the meaning of a text: a word, a mapping with a key for every part, or a list of parts
// without keys.
type Node struct {
	Word   string  `json:"word,omitempty"`
	Number *Number `json:"number,omitempty"` // if the word is a number
	Parts  []Part  `json:"parts,omitempty"`
}

// String is YAML flow text, if no word needs quotes.
func (n Node) String() string {
	if len(n.Parts) == 0 {
		return n.Word
	}
	var parts []string
	for _, p := range n.Parts {
		if p.Key != "" {
			parts = append(parts, p.Key+": "+p.Node.String())
		} else {
			parts = append(parts, p.Node.String())
		}
	}
	if n.Parts[0].Key != "" {
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// Part is a part of a mapping or of a list.
type Part struct {
	Key string `json:"key,omitempty"`
	Node
}

// Declared is a Component in a manifest's table.
type Declared struct {
	Text string `json:"text"`
	Node
}

// Plain is a component without options.
func Plain(name string) Component { return Component{name, Node{Word: name}} }

// Name is the name of the component: se for se and for {se: {length_scale: 2}}.
func (c Component) Name() string {
	if len(c.Parts) > 0 {
		return c.Parts[0].Key
	}
	return c.Word
}

// Within is the component as the only option of another one.
func (c Component) Within(name string) Component {
	return Component{"{" + name + ": " + c.Text + "}", Node{Parts: []Part{{name, c.Node}}}}
}

// String is the text.
func (c Component) String() string { return c.Text }

// IsZero reports that there is no component; fields with omitzero are then left out of JSON.
func (c Component) IsZero() bool { return c.Text == "" }

// MarshalJSON writes the text.
func (c Component) MarshalJSON() ([]byte, error) { return json.Marshal(c.Text) }

// UnmarshalJSON reads the text as a word; Manifest.Link adds its meaning.
func (c *Component) UnmarshalJSON(text []byte) error {
	*c = Component{}
	if err := json.Unmarshal(text, &c.Text); err != nil {
		return err
	}
	c.Word = c.Text
	return nil
}

// JSONSchema is the schema of a text.
func (Component) JSONSchema() map[string]any { return map[string]any{"type": "string"} }

// Label identifies a configuration among the configurations of one data set and one way of tuning.
type Label struct {
	Preprocess string    `json:"preprocess"` // preprocessing of the inputs
	Kernel     Component `json:"kernel"`     // as in the file, in one line
	Mean       Component `json:"mean"`       // the prior mean, as in the file, in one line
	Likelihood Component `json:"likelihood"` // as in the file, in one line
	Inference  Component `json:"inference"`  // the method that predicts, as in the file, in one line
	// the inference whose objective is tuned, as in the file, in one line
	TuneInference Component `json:"tune_inference"`
}

// Coefficient is a weight of logistic regression, of a preprocessed input or of the bias: the
// maximum of the penalised log likelihood, and the standard error from the inverse of its Hessian
// there.
type Coefficient struct {
	Class         string `json:"class"`          // class of the latent function; for two classes the second
	Input         string `json:"input"`          // an input of the model, or bias
	Value         Number `json:"value"`          // for a preprocessed input
	StandardError Number `json:"standard_error"` // of value
}

// Marginal is the posterior of one hyperparameter on the theta scale, estimated from Markov chains.
type Marginal struct {
	Name string `json:"name"`  // on the theta scale
	Mean Number `json:"mean"`  // on the theta scale
	SD   Number `json:"sd"`    // standard deviation on the theta scale
	RHat Number `json:"r_hat"` // potential scale reduction of split chains; near 1 if they agree
	ESS  Number `json:"ess"`   // effective sample size: mean has a standard error of about sd/√ess
}
