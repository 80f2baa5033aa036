package reports

import (
	"crypto/sha256"
	_ "embed" // the parts of the page
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strconv"
)

//go:embed html/page.gohtml
var pageText string

//go:embed html/page.css
var pageStyle string

//go:embed html/page.js
var pageScript string

var pageTemplate = template.Must(template.New("page").Parse(pageText))

// Bounds of the page, so that a browser opens that of a large run at once.
const (
	longestOpen    = 20      // rows of a table that is not folded
	mostOpen       = 3       // configurations that are not folded
	largestFigure  = 1 << 20 // bytes
	largestFigures = 4 << 20 // bytes, of all
)

// page is what report.html shows.
type page struct {
	document
	Style       template.CSS
	Scripts     []template.JS
	Policy      string // content security: nothing is loaded, and no script runs but Scripts
	Live        *Live  // nil: the page of a file
	Waiting     bool   // there is no run yet
	Files       []fileSet
	Figures     []picture
	FiguresLeft int // left out
}

// Open says that the configurations are not folded.
func (p page) Open() bool { return len(p.Details) <= mostOpen }

// Folded says that it is shown on demand.
func (s sheet) Folded() bool { return s.Heading != "" && len(s.Rows) > longestOpen }

// Link says that a cell of the first column is the number of a configuration that is on the page.
func (s sheet) Link(column int, cell string) bool {
	i, err := strconv.Atoi(cell)
	return column == 0 && err == nil && i < s.Linked
}

// picture is a figure: what stands above it, its panels and its legend.
type picture struct {
	Heading string
	Notes   []string
	Panels  []template.HTML
	Keys    []template.HTML
	size    int
}

// renderHTML writes report.html, a page that needs nothing else and loads nothing: what is missing, failed or doubtful, the
// summary, published figures beside those of the run, contests, the pictures of figures.svg, comparisons, every configuration, and
// where all of it comes from.
func renderHTML(w io.Writer, r *Report) error {
	return pageTemplate.Execute(w, newPage(r, pageScript))
}

// policy lets a page run its scripts and load nothing.
func policy(scripts ...string) string {
	p := "default-src 'none'; style-src 'unsafe-inline'; script-src"
	for _, s := range scripts {
		hash := sha256.Sum256([]byte(s))
		p += " 'sha256-" + base64.StdEncoding.EncodeToString(hash[:]) + "'"
	}
	return p
}

// newPage lays out a Report.
func newPage(r *Report, scripts ...string) page {
	p := page{
		document: r.document(longestSummary, longestTable),
		Style:    template.CSS(pageStyle + ".drawing{" + style + "}"),
		Policy:   policy(scripts...),
	}
	for _, s := range scripts {
		p.Scripts = append(p.Scripts, template.JS(s))
	}
	p.Figures, p.FiguresLeft = pictures(drawn(r))
	return p
}

// pictures takes a drawing apart, and counts the pictures that are too large for the page.
func pictures(d *drawing) (out []picture, left int) {
	const smallest, largest = 0.8, 1.5 // at which letters can be read, and do not shout
	body := d.body.Bytes()
	for i, part := range d.parts {
		end := len(body)
		if i+1 < len(d.parts) {
			end = d.parts[i+1].from
		}
		if part.class == "heading" {
			out = append(out, picture{Heading: part.text})
		}
		if len(out) == 0 || part.text == "" {
			continue
		}
		p := &out[len(out)-1]
		svg := template.HTML(fmt.Sprintf("<svg viewBox=\"%s %s %s %s\" width=%[3]q height=%[4]q style=\"min-width:%spx;max-width:%spx\" role=\"img\" aria-label=\"%s\">\n%s</svg>",
			px(part.x), px(part.y), px(part.width), px(part.height), px(smallest*part.width), px(largest*part.width), escape(part.text), body[part.from:end])) // texts are escaped, numbers are numbers
		switch part.class {
		case "note":
			p.Notes = append(p.Notes, part.text)
		case "panel":
			p.Panels = append(p.Panels, svg)
		case "key":
			p.Keys = append(p.Keys, svg)
		}
		p.size += len(svg)
	}
	all, total := len(out), 0
	out = slices.DeleteFunc(out, func(p picture) bool {
		if p.size > largestFigure || total+p.size > largestFigures {
			return true
		}
		total += p.size
		return false
	})
	return out, all - len(out)
}
