package columns

// kinds are asked in this order; the last takes every column.
var kinds = []Kind{empty, constant, weight, rowNumber, duration, measure, mixture, group, identifier, date, code,
	number, answer, ordered, category, text}
