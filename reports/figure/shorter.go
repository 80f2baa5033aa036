package figure

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// shorter writes the elements of an SVG in fewer bytes, with the same look: a path that is filled
// and stroked becomes one element, and circles have relative coordinates.
func shorter(elements string) string {
	var out []string
	for _, line := range strings.Split(elements, "\n") {
		line = circles.ReplaceAllStringFunc(line, relative)
		if last := len(out) - 1; last >= 0 {
			if both, ok := merged(out[last], line); ok {
				out[last] = both
				continue
			}
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}

// merged is one element for two paths with the same points, of which one is filled and the other is
// stroked.
func merged(first, second string) (both string, ok bool) {
	points, a, isPath := pathOf(first)
	others, b, same := pathOf(second)
	if !isPath || !same || points != others {
		return "", false
	}
	const stroked = "fill:none;stroke:"
	switch under, over := strings.HasPrefix(a, stroked), strings.HasPrefix(b, stroked); {
	case under == over:
		return "", false
	case under:
		a, b = b, a[len("fill:none;"):]+";paint-order:stroke"
	default:
		b = b[len("fill:none;"):]
	}
	return fmt.Sprintf(`<path d="%s" style="%s"/>`, points, strings.TrimPrefix(a+";"+b, ";")), true
}

// pathOf returns the points and the style of a path element.
func pathOf(line string) (points, style string, ok bool) {
	rest, ok := strings.CutPrefix(line, `<path d="`)
	points, rest, _ = strings.Cut(rest, `"`)
	if _, rest, styled := strings.Cut(rest, `style="`); styled {
		style, _, _ = strings.Cut(rest, `"`)
	}
	return points, style, ok
}

// circles are two half circles from the rightmost point, counterclockwise.
var circles = regexp.MustCompile(`M([\d.-]+),([\d.-]+)A([\d.]+),[\d.]+ 0 1 1 [\d.-]+,[\d.-]+` +
	`A[\d.]+,[\d.]+ 0 1 1 ([\d.-]+),([\d.-]+)Z`)

// relative is a circle with relative coordinates.
func relative(circle string) string {
	c := circles.FindStringSubmatch(circle)
	radius, err := strconv.ParseFloat(c[3], 64)
	if err != nil || c[1] != c[4] || c[2] != c[5] {
		return circle
	}
	width := strconv.FormatFloat(2*radius, 'g', 5, 64)
	return fmt.Sprintf("M%s,%sa%s,%[3]s 0 1 1-%[4]s,0 %[3]s,%[3]s 0 1 1 %[4]s,0Z", c[1], c[2], c[3], width)
}
