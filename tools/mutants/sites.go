//go:build unix

package main

import (
	"crypto/sha256"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// module is the start of the paths of its packages.
const module = "github.com/gpc-tune/gpc-tune/"

// mutant is one change of one place.
type mutant struct {
	path   string // path of the file
	file   string // path from the module's root
	line   int
	text   string // the line, without the blanks around it
	change string // old and new source
	number int    // number among the mutants of one program, from 1

	start, end int                               // the bytes of the file that rewrite replaces
	rewrite    func(number int, s string) string // source for [start, end) that has s and the mutant
}

// key identifies the mutant, also after other lines of the file have been edited.
func (m mutant) key() [3]string { return [3]string{m.file, m.text, m.change} }

// rank orders the mutants of a package for the draw of a seed. It depends on the seed and the key
// only, so that an edit of one line leaves the other mutants in the draw.
func (m mutant) rank(seed uint64) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d\n%s\n%s\n%s", seed, m.file, m.text, m.change))
	return string(sum[:])
}

// What operators become.
var (
	boundary = map[token.Token]token.Token{
		token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR,
	}
	opposite = map[token.Token]token.Token{
		token.LSS: token.GEQ, token.LEQ: token.GTR, token.GTR: token.LEQ, token.GEQ: token.LSS,
		token.EQL: token.NEQ, token.NEQ: token.EQL, token.LAND: token.LOR, token.LOR: token.LAND,
	}
	arithmetic = map[token.Token]token.Token{
		token.ADD: token.SUB, token.SUB: token.ADD, token.MUL: token.QUO, token.QUO: token.MUL, token.REM: token.MUL,
	}
	assignment = map[token.Token]token.Token{
		token.ADD_ASSIGN: token.SUB_ASSIGN, token.SUB_ASSIGN: token.ADD_ASSIGN, token.INC: token.DEC,
		token.MUL_ASSIGN: token.QUO_ASSIGN, token.QUO_ASSIGN: token.MUL_ASSIGN, token.DEC: token.INC,
	}
)

// finder collects the mutants of one file.
type finder struct {
	info               *types.Info
	fset               *token.FileSet
	path, file, source string
	found              []mutant
}

// sites finds every mutant of a file:
//
//   - a comparison turned round (< becomes >=, == becomes !=), or its boundary moved (< becomes
//     <=); the latter not between two floating-point variables, which are hardly ever equal
//   - an arithmetic or logical operator swapped: + and -, * and /, && and ||, in assignments too;
//     % becomes *
//   - a condition negated that is neither a comparison nor made of && and ||
//   - a whole number in the source one larger
//   - an assignment or a call left out
//
// Not changed are: what the language wants constant; the texts of panics and errors, and the zeros
// that are returned with an error; a positive sign given to math.Inf or math.IsInf, which any
// positive number says, and the bits given to strconv.ParseFloat, where any number but 32 says 64;
// the number of threads, which changes the time only; the capacity given to make; the step of a
// loop, which would never end; calls of package sync, since races show by chance; and methods named
// Memory, whose estimates the tests hold within a factor.
func (f *finder) sites(file *ast.File) []mutant {
	for _, d := range file.Decls {
		if function, is := d.(*ast.FuncDecl); !is || function.Name.Name != "Memory" {
			ast.Inspect(d, f.visit)
		}
	}
	return f.found
}

// add records a mutant that rewrites node n and is identified by the line of at.
func (f *finder) add(n ast.Node, at token.Pos, change string, rewrite func(number int, s string) string) {
	from, to := f.lineOf(f.offset(at))
	f.found = append(f.found, mutant{
		path: f.path, file: f.file, line: f.fset.Position(at).Line, text: strings.TrimSpace(f.source[from:to]),
		change: change, start: f.offset(n.Pos()), end: f.offset(n.End()), rewrite: rewrite,
	})
}

func (f *finder) offset(at token.Pos) int { return f.fset.Position(at).Offset }

func (f *finder) text(n ast.Node) string { return f.source[f.offset(n.Pos()):f.offset(n.End())] }

// lineOf is the range of bytes of the line that has the byte at.
func (f *finder) lineOf(at int) (from, to int) {
	from, to = strings.LastIndexByte(f.source[:at], '\n')+1, len(f.source)
	if end := strings.IndexByte(f.source[at:], '\n'); end >= 0 {
		to = at + end
	}
	return from, to
}

// around returns the text of the same line before and after [from, to), at most before and after
// bytes of it.
func (f *finder) around(from, to, before, after int) (string, string) {
	begin, end := f.lineOf(from)
	left, right := f.source[max(begin, from-before):from], f.source[min(to, end):min(end, to+after)]
	return strings.ToValidUTF8(left, ""), strings.ToValidUTF8(right, "")
}

// is reports whether the type of e is a basic type of such a kind.
func (f *finder) is(e ast.Expr, kind types.BasicInfo) bool {
	if t := f.info.TypeOf(e); t != nil {
		basic, ok := t.Underlying().(*types.Basic)
		return ok && basic.Info()&kind != 0
	}
	return false
}

// number is the name of the type of e if that is a predeclared type of numbers; else "".
func (f *finder) number(e ast.Expr) string {
	b, _ := f.info.TypeOf(e).(*types.Basic)
	if b == nil || b.Info()&(types.IsInteger|types.IsFloat) == 0 || b.Info()&types.IsUntyped != 0 {
		return ""
	}
	return b.Name()
}

func (f *finder) constant(e ast.Expr) bool { return f.info.Types[e].Value != nil }

// visit finds the mutants of a node, and reports whether to visit its children.
func (f *finder) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.GenDecl:
		return n.Tok == token.VAR
	case *ast.ArrayType: // its length is constant
		return false
	case *ast.CallExpr:
		return f.call(n)
	case *ast.CompositeLit:
		for _, e := range n.Elts {
			if kv, ok := e.(*ast.KeyValueExpr); ok {
				e = kv.Value
			}
			ast.Inspect(e, f.visit)
		}
		return false
	case *ast.IfStmt:
		f.condition(n.Cond)
	case *ast.ReturnStmt:
		if last := len(n.Results) - 1; last > 0 && f.fails(n.Results[last]) {
			ast.Inspect(n.Results[last], f.visit)
			return false
		}
	case *ast.ForStmt:
		for _, part := range []ast.Node{n.Init, n.Cond, n.Body} {
			if part != nil {
				ast.Inspect(part, f.visit)
			}
		}
		if n.Cond != nil {
			f.condition(n.Cond)
		}
		return false
	case *ast.BlockStmt:
		f.statements(n.List)
	case *ast.CaseClause:
		f.statements(n.Body)
	case *ast.CommClause:
		f.statements(n.Body)
	case *ast.BinaryExpr:
		if f.constant(n) {
			return false
		}
		f.operator(n)
	case *ast.UnaryExpr:
		return !f.constant(n)
	case *ast.IndexExpr:
		if lit, ok := n.Index.(*ast.BasicLit); ok && lit.Kind == token.INT {
			ast.Inspect(n.X, f.visit)
			return false // an index out of an array does not compile
		}
	case *ast.BasicLit:
		if of := f.number(n); n.Kind == token.INT && of != "" {
			before, after := f.around(f.offset(n.Pos()), f.offset(n.End()), 10, 8)
			change := strings.TrimSpace(before+"["+n.Value+"]"+after) + " + 1"
			f.add(n, n.Pos(), change, func(k int, s string) string {
				return fmt.Sprintf("(%s(%s) + mutantOne_[%s](%d))", of, s, of, k)
			})
		}
	}
	return true
}

// call reports whether to visit all of a call; else it has visited the arguments to change.
func (f *finder) call(n *ast.CallExpr) bool {
	if s, ok := n.Fun.(*ast.SelectorExpr); ok && (s.Sel.Name == "ParseFloat" ||
		s.Sel.Name == "IsInf" && len(n.Args) == 2 && f.text(n.Args[1]) == "1") {
		ast.Inspect(n.Args[0], f.visit)
		return false
	}
	if id, ok := n.Fun.(*ast.Ident); ok && id.Name == "make" && len(n.Args) == 3 {
		ast.Inspect(n.Args[1], f.visit)
		return false
	}
	return !f.silent(n)
}

// fails reports whether e is a call that makes an error.
func (f *finder) fails(e ast.Expr) bool {
	_, calls := e.(*ast.CallExpr)
	t := f.info.TypeOf(e)
	return calls && t != nil && t.String() == "error"
}

// condition finds the negation of a condition, unless operator changes it.
func (f *finder) condition(e ast.Expr) {
	e = ast.Unparen(e)
	if _, is := e.(*ast.BinaryExpr); !is && !f.constant(e) {
		f.add(e, e.Pos(), "condition negated", func(k int, s string) string {
			return fmt.Sprintf("((%s) != mutant_(%d))", s, k)
		})
	}
}

// operator finds the changes of a comparison, of && and ||, and of arithmetic.
func (f *finder) operator(n *ast.BinaryExpr) {
	becomes := func(to map[token.Token]token.Token, of string) {
		with, can := to[n.Op]
		if !can || of == "" {
			return
		}
		at, x, y := f.offset(n.OpPos), f.text(n.X), f.text(n.Y)
		before, after := f.around(at, at+len(n.Op.String()), 12, 12)
		change := fmt.Sprintf("%s %s %s becomes %s", strings.TrimSpace(before), n.Op, strings.TrimSpace(after), with)
		f.add(n, n.OpPos, change, func(k int, s string) string {
			changed := fmt.Sprintf("(%s) %s (%s)", x, with, y)
			return fmt.Sprintf("func() %s { if mutant_(%d) { return %s }; return %s }()", of, k, changed, s)
		})
	}
	becomes(opposite, "bool")
	if !f.is(n.X, types.IsFloat) || f.constant(n.X) || f.constant(n.Y) {
		becomes(boundary, "bool")
	}
	divisor := f.info.Types[n.Y].Value
	if n.Op != token.MUL || divisor == nil || divisor.String() != "0" || !f.is(n, types.IsInteger) {
		becomes(arithmetic, f.number(n))
	}
}

// statements finds assignments and calls to leave out, and operators of assignments. Those with a
// function literal in them would hide the mutants in its body.
func (f *finder) statements(list []ast.Stmt) {
	leaveOut := func(s ast.Stmt) {
		first, _, _ := strings.Cut(f.text(s), "\n")
		f.add(s, s.Pos(), "left out: "+first, func(k int, s string) string {
			return fmt.Sprintf("if !mutant_(%d) { %s }", k, s)
		})
	}
	becomes := func(s ast.Stmt, at token.Pos, op token.Token) {
		with, can := assignment[op]
		if !can {
			return
		}
		cut := f.offset(at) - f.offset(s.Pos())
		f.add(s, at, fmt.Sprintf("%s becomes %s", op, with), func(k int, s string) string {
			changed := s[:cut] + with.String() + s[cut+len(op.String()):]
			return fmt.Sprintf("if mutant_(%d) { %s } else { %s }", k, changed, s)
		})
	}
	blank := func(e ast.Expr) bool { id, is := e.(*ast.Ident); return is && id.Name == "_" }
	literal := func(n ast.Node) bool { _, is := n.(*ast.FuncLit); return is }
	for _, s := range list {
		if slices.ContainsFunc(slices.Collect(ast.Preorder(s)), literal) {
			continue
		}
		switch s := s.(type) {
		case *ast.AssignStmt:
			if s.Tok == token.DEFINE || !slices.ContainsFunc(s.Lhs, func(e ast.Expr) bool { return !blank(e) }) {
				continue
			}
			leaveOut(s)
			if f.is(s.Lhs[0], types.IsInteger|types.IsFloat) {
				becomes(s, s.TokPos, s.Tok)
			}
		case *ast.IncDecStmt:
			becomes(s, s.TokPos, s.Tok)
		case *ast.ExprStmt:
			if call, is := s.X.(*ast.CallExpr); is && !f.silent(call) {
				leaveOut(s)
			}
		}
	}
}

// unchanged are the functions whose calls stay.
var unchanged = []string{"errors.New", "fmt.Errorf", "math.Inf", module + "internal/linalg.SetThreads"}

// silent reports whether a call and its arguments stay unchanged: panics, texts of errors, signs of
// infinity, package sync.
func (f *finder) silent(call *ast.CallExpr) bool {
	if s, is := f.info.TypeOf(call.Fun).(*types.Signature); is && s.Variadic() && f.fails(call) { // as fmt.Errorf
		return true
	}
	switch called := ast.Unparen(call.Fun).(type) {
	case *ast.Ident:
		return called.Name == "panic"
	case *ast.SelectorExpr:
		if o := f.info.Uses[called.Sel]; o != nil && o.Pkg() != nil {
			path := o.Pkg().Path()
			return path == "sync" || slices.Contains(unchanged, path+"."+o.Name())
		}
	}
	return false
}
