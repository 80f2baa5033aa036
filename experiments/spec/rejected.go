package spec

// Rejected is the decision for no class.
const Rejected = "reject"
