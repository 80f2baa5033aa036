package columns

// date is a day or a time. It is an input if parts of it, or the days since another date, say
// something (see Table.dates).
var date = Kind{Name: "date", Use: Left, is: func(p *profile) (string, bool) { return "", p.dated() != nil }}
