#!/bin/sh
# A worker of the gpc-tune run {{.Name}}. Its arguments say which block it does: --blocks M --first F in an array, or --block rest.
{{.Directives}}
{{.Command}}
