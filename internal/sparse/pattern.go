// Package sparse factors symmetric matrices A = Vᵀ diag(r) V + diag(s) by the multifrontal method
// (Duff & Reid 1983). The rows of V have few numbers other than 0. It also computes the entries of
// A⁻¹ where VᵀV is not 0 (Erisman & Tinney 1975).
//
// Results are the same bits for any number of threads. Wrong shapes panic.
package sparse

import (
	"container/heap"
	"slices"
)

// Pattern is the order of elimination of a matrix VᵀV, given the columns in which the rows of V are
// not 0. The next variable is one with the fewest neighbours in the graph of the variables that are
// left, by the bound of Amestoy, Davis & Duff (1996). It is immutable.
type Pattern struct {
	n      int
	rows   [][]int // the columns of every row of V
	fronts []front // children before parents
	front  []int   // the front that eliminates a variable
	factor int     // the number of entries of a factor
}

// front is a dense matrix over the variables of at. The first of them are eliminated there. It is
// the sum of the products of some rows of V, and of what the elimination in its children leaves.
type front struct {
	at     []int // variables
	pivots int   // the number of them that are eliminated here
	rows   []int // rows of V whose first eliminated variable is here
	parent int   // -1: none

	children []int
	columns  [][]int // columns[r] has the places in at of the columns of row rows[r]
	up       []int   // the ascending places of the variables not eliminated here in the parent's at
}

// NewPattern orders n variables, given the columns of the rows of V, without repetition in a row.
func NewPattern(n int, rows [][]int) *Pattern {
	g := newQuotient(n, rows)
	for g.queue.Len() > 0 {
		if v := heap.Pop(&g.queue).(entry); !g.gone[v.variable] && v.degree == g.degree[v.variable] {
			g.eliminate(v.variable)
		}
	}
	p := &Pattern{n: n, rows: rows, fronts: g.fronts, front: make([]int, n)}
	p.merge()
	p.place()
	return p
}

// quotient is the graph of the variables that are left: two are neighbours if they are in the same
// element. An element is a row of V, or what the elimination of variables left.
type quotient struct {
	elements [][]int // the variables of an element; nil: it is part of another
	front    []int   // the front that left the element, or -1-r for row r of V
	of       [][]int // the elements of a variable
	gone     []bool
	degree   []int // a bound of the number of neighbours
	queue    queue
	fronts   []front
	mark     []int // the stamp at which a variable was last seen
	stamp    int
	outside  []int // of elements: the number of variables outside the latest element
	seen     []int // of elements: the stamp at which outside was set
}

func newQuotient(n int, rows [][]int) *quotient {
	g := &quotient{of: make([][]int, n), gone: make([]bool, n), degree: make([]int, n), mark: make([]int, n)}
	for r, row := range rows {
		g.add(slices.Clone(row), -1-r)
	}
	for v := range n {
		for _, e := range g.of[v] {
			g.degree[v] += len(g.elements[e]) - 1
		}
		g.degree[v] = min(g.degree[v], n-1)
		g.queue = append(g.queue, entry{g.degree[v], v})
	}
	heap.Init(&g.queue)
	return g
}

// add makes an element.
func (g *quotient) add(variables []int, front int) {
	e := len(g.elements)
	g.elements, g.front = append(g.elements, variables), append(g.front, front)
	g.outside, g.seen = append(g.outside, 0), append(g.seen, 0)
	for _, v := range variables {
		g.of[v] = append(g.of[v], e)
	}
}

// eliminate makes the front of v, and of the variables whose neighbours are then all in it.
func (g *quotient) eliminate(v int) {
	f, number := front{at: []int{v}, parent: -1}, len(g.fronts)
	g.gone[v] = true
	g.stamp++
	var left []int
	for _, e := range g.of[v] {
		for _, u := range g.elements[e] {
			if !g.gone[u] && g.mark[u] != g.stamp {
				g.mark[u] = g.stamp
				left = append(left, u)
			}
		}
		g.absorb(e, &f, number)
	}
	for _, u := range left {
		g.of[u] = slices.DeleteFunc(g.of[u], func(e int) bool { return g.elements[e] == nil })
		for _, e := range g.of[u] {
			if g.seen[e] != g.stamp {
				g.seen[e], g.outside[e] = g.stamp, len(g.elements[e])
			}
			g.outside[e]--
		}
	}
	var boundary []int
	for _, u := range left {
		beyond := 0
		for _, e := range g.of[u] {
			if g.outside[e] == 0 && g.elements[e] != nil {
				g.absorb(e, &f, number)
			}
			beyond += g.outside[e]
		}
		if beyond == 0 { // all of its neighbours are here
			g.gone[u] = true
			f.at = append(f.at, u)
			continue
		}
		boundary = append(boundary, u)
	}
	f.pivots = len(f.at)
	f.at = append(f.at, boundary...)
	for _, u := range boundary {
		g.of[u] = slices.DeleteFunc(g.of[u], func(e int) bool { return g.elements[e] == nil })
		beyond := 0
		for _, e := range g.of[u] {
			beyond += g.outside[e]
		}
		g.degree[u] = beyond + len(boundary) - 1
		heap.Push(&g.queue, entry{g.degree[u], u})
	}
	g.fronts = append(g.fronts, f)
	if len(boundary) > 0 {
		g.add(boundary, number)
	}
}

// absorb makes an element part of a front.
func (g *quotient) absorb(e int, f *front, number int) {
	if from := g.front[e]; from < 0 {
		f.rows = append(f.rows, -1-from)
	} else {
		g.fronts[from].parent = number
	}
	g.elements[e] = nil
}

// entry is a variable with its degree at the time.
type entry struct{ degree, variable int }

// queue has the entry of the smallest degree first, and of these the smallest variable.
type queue []entry

func (q queue) Len() int { return len(q) }
func (q queue) Less(i, j int) bool {
	return q[i].degree < q[j].degree || q[i].degree == q[j].degree && q[i].variable < q[j].variable
}
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)   { *q = append(*q, x.(entry)) }
func (q *queue) Pop() any {
	last := len(*q) - 1
	e := (*q)[last]
	*q = (*q)[:last]
	return e
}

// merge unites a front with its parent where that adds few zeros, and renumbers the fronts so that
// the front after its last child follows at once.
func (p *Pattern) merge() {
	// A large front takes less time for each number than two small ones.
	const few, share = 16, 0.1
	children := make([][]int, len(p.fronts))
	var roots, order []int
	for k := range p.fronts {
		f := &p.fronts[k]
		var kept []int
		for _, c := range children[k] {
			child := &p.fronts[c]
			zeros := child.pivots * (len(f.at) - len(child.at) + child.pivots)
			size := (child.pivots + f.pivots) * (child.pivots + len(f.at))
			if zeros == 0 || child.pivots < few && float64(zeros) < share*float64(size) {
				f.at = slices.Concat(child.at[:child.pivots], f.at)
				f.pivots += child.pivots
				f.rows = append(f.rows, child.rows...)
				kept = append(kept, children[c]...)
			} else {
				kept = append(kept, c)
			}
		}
		children[k] = kept
		if f.parent < 0 {
			roots = append(roots, k)
		} else {
			children[f.parent] = append(children[f.parent], k)
		}
	}
	var visit func(k int)
	visit = func(k int) {
		for _, c := range children[k] {
			visit(c)
		}
		order = append(order, k)
	}
	for _, k := range roots {
		visit(k)
	}
	fronts, number := make([]front, len(order)), make([]int, len(p.fronts))
	for i, k := range order {
		number[k] = i
		fronts[i] = p.fronts[k]
		fronts[i].parent = -1
		slices.Sort(fronts[i].rows)
		for _, c := range children[k] {
			fronts[number[c]].parent = i
			fronts[i].children = append(fronts[i].children, number[c])
		}
	}
	p.fronts = fronts
}

// place sorts the variables of fronts in the order of their elimination, so that a triangle remains
// a triangle in the parent, and finds their places.
func (p *Pattern) place() {
	at, eliminated := make([]int, p.n), 0
	for k, f := range p.fronts {
		for _, x := range f.at[:f.pivots] {
			p.front[x], at[x] = k, eliminated
			eliminated++
		}
	}
	for _, f := range p.fronts {
		slices.SortFunc(f.at[f.pivots:], func(x, y int) int { return at[x] - at[y] })
	}
	for k := range p.fronts {
		f := &p.fronts[k]
		for place, x := range f.at {
			at[x] = place
		}
		places := func(of []int) (places []int) {
			for _, x := range of {
				places = append(places, at[x])
			}
			return places
		}
		for _, r := range f.rows {
			f.columns = append(f.columns, places(p.rows[r]))
		}
		for _, c := range f.children {
			child := &p.fronts[c]
			child.up = places(child.at[child.pivots:])
		}
		p.factor += f.pivots * len(f.at)
	}
}
