package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// Mutant is one change of one place.
type Mutant struct {
	File   string // relative to the module's root
	Line   int
	Text   string // of the line, without the blanks around it
	Change string // what becomes what
	number int    // by which the program that has all of them is told which one to be

	start, end int                               // the bytes that Rewrite replaces
	rewrite    func(number int, s string) string // makes of the source of [start, end) one that also has the mutant
}

// key says which mutant it is after other lines of the file have been edited.
func (m Mutant) key() [3]string { return [3]string{m.File, m.Text, m.Change} }

// rank is where the mutant stands among those of its package in the draw of a seed. It depends on nothing but the
// seed and the mutant's key, so that an edit of one line leaves the other mutants in the draw.
func (m Mutant) rank(seed uint64) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d\n%s\n%s\n%s", seed, m.File, m.Text, m.Change))
	return string(sum[:])
}

var (
	moved  = map[token.Token]token.Token{token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR}
	turned = map[token.Token]token.Token{token.LSS: token.GEQ, token.LEQ: token.GTR, token.GTR: token.LEQ, token.GEQ: token.LSS,
		token.EQL: token.NEQ, token.NEQ: token.EQL}
	swapped = map[token.Token]token.Token{token.ADD: token.SUB, token.SUB: token.ADD, token.MUL: token.QUO, token.QUO: token.MUL,
		token.REM: token.MUL, token.LAND: token.LOR, token.LOR: token.LAND}
	swappedAssign = map[token.Token]token.Token{token.ADD_ASSIGN: token.SUB_ASSIGN, token.SUB_ASSIGN: token.ADD_ASSIGN,
		token.MUL_ASSIGN: token.QUO_ASSIGN, token.QUO_ASSIGN: token.MUL_ASSIGN, token.INC: token.DEC, token.DEC: token.INC}
)

// sites finds every mutant of a file:
//
//   - a comparison turned round (< becomes >=, == becomes !=), or its boundary moved (< becomes <=); between two
//     floating-point numbers neither of which is a constant only the former, since they are hardly ever equal
//   - an arithmetic or logical operator swapped: + and -, * and /, && and ||, in assignments too; % becomes *
//   - a condition negated that is neither a comparison nor made of && and ||
//   - a whole number in the source one larger
//   - an assignment or a call left out
//
// Left out are constants that the language wants constant, what makes the text of a panic or an error, the capacity given to
// make, the step of a loop (which then never ends), calls of package sync (races show by chance), and methods named Memory, whose
// estimates the tests hold within a factor.
func sites(pkg *types.Package, info *types.Info, fset *token.FileSet, file *ast.File, name string, source []byte) []Mutant {
	var found []Mutant
	lines := strings.Split(string(source), "\n")
	add := func(at token.Pos, start, end token.Pos, change string, rewrite func(int, string) string) {
		line := fset.Position(at).Line
		found = append(found, Mutant{File: name, Line: line, Text: strings.TrimSpace(lines[line-1]), Change: change,
			start: fset.Position(start).Offset, end: fset.Position(end).Offset, rewrite: rewrite})
	}
	text := func(n ast.Node) string {
		return string(source[fset.Position(n.Pos()).Offset:fset.Position(n.End()).Offset])
	}
	typeOf := func(e ast.Expr) *types.Basic {
		t, _ := info.Types[e].Type.(*types.Basic)
		return t
	}
	is := func(e ast.Expr, what types.BasicInfo) bool {
		t := info.Types[e].Type
		if t == nil {
			return false
		}
		b, ok := t.Underlying().(*types.Basic)
		return ok && b.Info()&what != 0
	}
	constant := func(e ast.Expr) bool { return info.Types[e].Value != nil }

	condition := func(e ast.Expr) {
		switch e := ast.Unparen(e).(type) {
		case nil:
		case *ast.BinaryExpr: // found by itself
		default:
			if !constant(e) {
				add(e.Pos(), e.Pos(), e.End(), "condition negated", func(k int, s string) string {
					return fmt.Sprintf("((%s) != mutant_(%d))", s, k)
				})
			}
		}
	}
	statement := func(list []ast.Stmt) {
		for _, s := range list {
			if slices.ContainsFunc(everything(s), func(n ast.Node) bool { _, is := n.(*ast.FuncLit); return is }) {
				continue
			}
			without := func(k int, s string) string { return fmt.Sprintf("if !mutant_(%d) { %s }", k, s) }
			switch s := s.(type) {
			case *ast.AssignStmt:
				if s.Tok == token.DEFINE || allBlank(s.Lhs) {
					continue
				}
				add(s.Pos(), s.Pos(), s.End(), "left out: "+text(s), without)
				if to, can := swappedAssign[s.Tok]; can && is(s.Lhs[0], types.IsInteger|types.IsFloat) {
					before, after, op, with := text(s.Lhs[0]), text(s.Rhs[0]), s.Tok.String(), to.String()
					add(s.TokPos, s.Pos(), s.End(), op+" becomes "+with, func(k int, s string) string {
						return fmt.Sprintf("if mutant_(%d) { %s %s %s } else { %s }", k, before, with, after, s)
					})
				}
			case *ast.IncDecStmt:
				x, with := text(s.X), swappedAssign[s.Tok].String()
				add(s.TokPos, s.Pos(), s.End(), s.Tok.String()+" becomes "+with, func(k int, s string) string {
					return fmt.Sprintf("if mutant_(%d) { %s%s } else { %s }", k, x, with, s)
				})
			case *ast.ExprStmt:
				call, ok := s.X.(*ast.CallExpr)
				if !ok || silent(info, call) {
					continue
				}
				add(s.Pos(), s.Pos(), s.End(), "left out: "+text(s), without)
			}
		}
	}

	var visit func(n ast.Node) bool
	visit = func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GenDecl:
			return n.Tok == token.VAR
		case *ast.ArrayType: // its length is constant
			return false
		case *ast.CallExpr:
			if silent(info, n) {
				return false
			}
			if id, ok := n.Fun.(*ast.Ident); ok && id.Name == "make" && len(n.Args) == 3 {
				ast.Inspect(n.Args[1], visit)
				return false
			}
		case *ast.CompositeLit:
			for _, e := range n.Elts {
				if kv, ok := e.(*ast.KeyValueExpr); ok {
					e = kv.Value
				}
				ast.Inspect(e, visit)
			}
			return false
		case *ast.IfStmt:
			condition(n.Cond)
		case *ast.ForStmt:
			if n.Cond != nil {
				condition(n.Cond)
			}
			for _, part := range []ast.Node{n.Init, n.Cond, n.Body} {
				if part != nil {
					ast.Inspect(part, visit)
				}
			}
			return false
		case *ast.BlockStmt:
			statement(n.List)
		case *ast.CaseClause:
			statement(n.Body)
		case *ast.CommClause:
			statement(n.Body)
		case *ast.BinaryExpr:
			if constant(n) {
				return false
			}
			x, y, op := text(n.X), text(n.Y), n.Op
			choice := func(with token.Token) func(int, string) string {
				return func(k int, s string) string {
					return fmt.Sprintf("(mutant_(%d) && ((%s) %s (%s)) || !mutant_(%d) && (%s))", k, x, with, y, k, s)
				}
			}
			if with, can := turned[op]; can {
				add(n.OpPos, n.Pos(), n.End(), at(op, n, source, fset)+" becomes "+with.String(), choice(with))
			}
			if with, can := moved[op]; can && (!is(n.X, types.IsFloat) || constant(n.X) || constant(n.Y)) {
				add(n.OpPos, n.Pos(), n.End(), at(op, n, source, fset)+" becomes "+with.String(), choice(with))
			}
			if with, can := swapped[op]; can {
				switch b := typeOf(n); {
				case op == token.LAND || op == token.LOR:
					add(n.OpPos, n.Pos(), n.End(), at(op, n, source, fset)+" becomes "+with.String(), choice(with))
				case b != nil && b.Info()&(types.IsInteger|types.IsFloat) != 0 && b.Info()&types.IsUntyped == 0:
					if op == token.MUL && b.Info()&types.IsInteger != 0 && isZero(info, n.Y) {
						break
					}
					add(n.OpPos, n.Pos(), n.End(), at(op, n, source, fset)+" becomes "+with.String(), func(k int, s string) string {
						return fmt.Sprintf("func() %s { if mutant_(%d) { return (%s) %s (%s) }; return %s }()", b.Name(), k, x, with, y, s)
					})
				}
			}
		case *ast.UnaryExpr:
			if constant(n) {
				return false
			}
		case *ast.IndexExpr:
			if lit, ok := n.Index.(*ast.BasicLit); ok && lit.Kind == token.INT {
				ast.Inspect(n.X, visit)
				return false // an index out of an array does not compile
			}
		case *ast.BasicLit:
			b := typeOf(n)
			if n.Kind == token.INT && b != nil && b.Info()&(types.IsInteger|types.IsFloat) != 0 && b.Info()&types.IsUntyped == 0 {
				add(n.Pos(), n.Pos(), n.End(), around(n, source, fset)+" + 1", func(k int, s string) string {
					return fmt.Sprintf("(%s(%s) + mutantOne_[%s](%d))", b.Name(), s, b.Name(), k)
				})
			}
		}
		return true
	}
	for _, d := range file.Decls {
		if f, is := d.(*ast.FuncDecl); is && f.Name.Name == "Memory" {
			continue
		}
		ast.Inspect(d, visit)
	}
	return found
}

// at is an operator with what is around it, to tell it from others on the line.
func at(op token.Token, n *ast.BinaryExpr, source []byte, fset *token.FileSet) string {
	p := fset.Position(n.OpPos).Offset
	after := p + len(op.String())
	return strings.TrimSpace(window(source, p-12, p, p)) + " " + op.String() + " " + strings.TrimSpace(window(source, after, after+12, p))
}

// around is a number with what is around it.
func around(n ast.Node, source []byte, fset *token.FileSet) string {
	from, to := fset.Position(n.Pos()).Offset, fset.Position(n.End()).Offset
	return strings.TrimSpace(window(source, from-10, from, from) + "[" + string(source[from:to]) + "]" + window(source, to, to+8, from))
}

// window is what of [from, to) of the source is on the line of the byte at.
func window(source []byte, from, to, at int) string {
	from = max(from, bytes.LastIndexByte(source[:at], '\n')+1)
	if end := bytes.IndexByte(source[at:], '\n'); end >= 0 {
		to = min(to, at+end)
	}
	return strings.ToValidUTF8(string(source[max(0, from):min(len(source), to)]), "")
}

func isZero(info *types.Info, e ast.Expr) bool {
	v := info.Types[e].Value
	return v != nil && v.String() == "0"
}

func allBlank(list []ast.Expr) bool {
	return !slices.ContainsFunc(list, func(e ast.Expr) bool { id, ok := e.(*ast.Ident); return !ok || id.Name != "_" })
}

func everything(n ast.Node) []ast.Node {
	var all []ast.Node
	ast.Inspect(n, func(n ast.Node) bool { all = append(all, n); return true })
	return all
}

// silent tells calls whose arguments, and which themselves, are no sites: panics, the text of errors, package sync.
func silent(info *types.Info, call *ast.CallExpr) bool {
	switch f := ast.Unparen(call.Fun).(type) {
	case *ast.Ident:
		return f.Name == "panic"
	case *ast.SelectorExpr:
		o := info.Uses[f.Sel]
		if o == nil || o.Pkg() == nil {
			return false
		}
		return o.Pkg().Path() == "sync" || o.Pkg().Path() == "errors" && o.Name() == "New" || o.Pkg().Path() == "fmt" && o.Name() == "Errorf"
	}
	return false
}
