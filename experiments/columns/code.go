package columns

import (
	"fmt"
	"regexp"
)

var codeName = regexp.MustCompile(`(?i)(^|[_ .-])(code|type|kind|category|cat|class|region|zone|zip|zipcode|` +
	`zip_code|plz|postcode|postal_code|district|sector|segment|cluster|branch|department|dept|site|centre|center|` +
	`station|ward|country|state|colou?r|sex|gender|race|ethnicity|religion|occupation|job|status|method|mode|brand|` +
	`channel|group|arm|batch|lot|machine|operator|lab|hospital|clinic|shop|store|product|plan|tariff)` +
	`(_?(id|code|nr|no))?$`)

// mostCodes is how many different whole numbers are believed to be names of categories.
const mostCodes = 50

// code names categories by whole numbers.
var code = Kind{Name: "category", Use: Input, category: true, is: func(p *profile) (string, bool) {
	n := len(p.levels)
	if !p.isWhole() || n < 3 || n > mostCodes || p.there < 2*n || p.there < leastRows ||
		!codeName.MatchString(p.name) && (!idName.MatchString(p.name) || countName.MatchString(p.name)) {
		return "", false
	}
	return fmt.Sprintf("%d categories, by its name, although they are numbers: %s", n, p.some()), true
}}
