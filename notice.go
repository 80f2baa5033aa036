// Package gpctune has the licences of the program: its own, and those of what is linked into it.
package gpctune

import _ "embed"

var (
	// License is the text of LICENSE, that of gpc-tune.
	//go:embed LICENSE
	License string
	// Notice is the text of NOTICE: the licences of modules, fonts and data sets that are part of
	// the program.
	//go:embed NOTICE
	Notice string
)
