package run

// Block is one of Of parts of a run, counted from 0.
type Block struct{ Index, Of int }
