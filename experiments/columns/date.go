package columns

import "fmt"

// date is a day or a time.
var date = Kind{Name: "date", Use: Left, is: func(p *profile) (string, bool) {
	if len(p.dates) == 0 || p.texts != p.there {
		return "", false
	}
	if p.firstDay.Year() == 0 {
		return "times of day; a number made of them (minutes since midnight) could be an input", true
	}
	return fmt.Sprintf("dates, %s to %s; a number made of them (an age in days, the month) could be an input",
		p.firstDay.Format("2006-01-02"), p.lastDay.Format("2006-01-02")), true
}}
