// Package gpctune has files of the repository that are part of the program: its own licence, the
// licences of modules, fonts and data sets in it, the Dockerfile of its image, and the glossary of
// the guide.
package gpctune

import _ "embed"

var (
	// License is the text of LICENSE, the licence of gpc-tune.
	//go:embed LICENSE
	License string
	// Notice is the text of NOTICE: the licences of modules, fonts and data sets that are part of
	// the program.
	//go:embed NOTICE
	Notice string
	// Dockerfile is the text of Dockerfile, whose argument PROGRAM names the file of the program.
	//go:embed Dockerfile
	Dockerfile string
	// Glossary is the text of docs/glossary.md, whose table has a word and its meaning in each row.
	//go:embed docs/glossary.md
	Glossary string
)
