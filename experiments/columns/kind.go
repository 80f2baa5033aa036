package columns

import "regexp"

// Use is what becomes of a column.
type Use int

// The uses of a column.
const (
	Input Use = iota
	Label
	ID    // carried through to the predictions
	Group // no fold divides its cases
	Left  // left out
)

// String says it to people.
func (u Use) String() string { return []string{"input", "label", "id", "group", "left out"}[u] }

// Kind is something that a column can be.
type Kind struct {
	Name string
	Use  Use
	// category says that the values are names, also where they are numbers.
	category bool
	// is says whether a column is of this kind, and in words what was found in it.
	is func(*profile) (found string, ok bool)
}

// leastRows is the number of rows from which on numbers in a row are no accident.
const leastRows = 20

// idName are names of columns that identify something: id, patient_id, PatientID, case-no.
var idName = regexp.MustCompile(`(?i)^(id|ids|uuid|guid|key|index|idx|nr|no|number|row|rownames|unnamed: 0)$|` +
	`^(case|record)$|[_ .-](id|uuid|guid|key|nr|no|index|idx)$|` +
	`^(id|case|record|row|sample|serial)[_ .-]?(id|nr|no|num|number|key)$|(?-i:[a-z](Id|ID|Nr|No|Key)$)`)

// countName are names of identifiers that are names of counts too.
var countName = regexp.MustCompile(`(?i)^(no|nr|number|key|index)$`)
