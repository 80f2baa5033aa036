package ledger

// All are the claims of all sources.
var All = Claims{
	"Garcia-Fernandez, Tronarp & Sarkka":          garciaFernandez(),
	"Csato et al. (2000)":                         csato,
	"Rasmussen & Williams (2006), GPML chapter 3": gpml,
	"lecture on Gaussian processes":               lecture,
	"notes on EP and ADF":                         notes,
}
