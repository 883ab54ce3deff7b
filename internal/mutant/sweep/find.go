package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
)

// A change is one small change of the code: what a hurried author writes instead.
type change struct {
	id   int
	pkg  string // relative to the module
	file string
	line int
	kind string
	text string // what changes, for people
}

// A site is a range of a file that one or several changes replace. build returns its
// text, in which inner renders the parts that stay.
type site struct {
	from, to int // offsets
	build    func(inner func(ast.Node) string) string
}

// finder finds the changes of one file.
type finder struct {
	fset    *token.FileSet
	info    *types.Info
	src     []byte
	pkg     string
	file    string
	next    *int
	changes []change
	sites   []site
	endless []ast.Node // loops that only their bodies end
}

const alias = "swept_" // the name of package swept in the changed files

func (f *finder) at(p token.Pos) int { return f.fset.Position(p).Offset }

func (f *finder) text(n ast.Node) string { return string(f.src[f.at(n.Pos()):f.at(n.End())]) }

// add notes a change, and returns the expression that tells whether it is on.
func (f *finder) add(at token.Pos, kind, text string) string {
	return fmt.Sprintf("%s.On(%d)", alias, f.number(at, kind, text))
}

func (f *finder) number(at token.Pos, kind, text string) int {
	id := *f.next
	*f.next++
	p := f.fset.Position(at)
	f.changes = append(f.changes, change{id: id, pkg: f.pkg, file: f.file, line: p.Line, kind: kind, text: text})
	return id
}

func (f *finder) site(n ast.Node, build func(inner func(ast.Node) string) string) {
	f.sites = append(f.sites, site{f.at(n.Pos()), f.at(n.End()), build})
}

// function finds the changes of a function.
func (f *finder) function(d *ast.FuncDecl) {
	if d.Body == nil || slices.Contains([]string{"String", "Error", "GoString"}, d.Name.Name) {
		return // text for people
	}
	ast.Inspect(d.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GenDecl:
			return n.Tok == token.VAR
		case *ast.BlockStmt:
			f.statements(n.List)
		case *ast.CaseClause:
			f.statements(n.Body)
			f.cases(n)
		case *ast.CommClause:
			f.statements(n.Body)
		case *ast.IfStmt:
			f.condition(n.Cond)
		case *ast.ForStmt:
			if n.Cond == nil {
				f.endless = append(f.endless, n.Body)
			}
		}
		if e, ok := n.(ast.Expr); ok {
			return f.expression(e)
		}
		return true
	})
}

// condition lets a condition be always true, or never.
func (f *finder) condition(c ast.Expr) {
	if f.constant(c) {
		return
	}
	always, never := f.add(c.Pos(), "condition always true", f.text(c)), f.add(c.Pos(), "condition never true", f.text(c))
	f.site(c, func(inner func(ast.Node) string) string {
		return fmt.Sprintf("((%s || (%s)) && !%s)", always, inner(c), never)
	})
}

// cases finds the conditions of a switch without a value.
func (f *finder) cases(c *ast.CaseClause) {
	for _, e := range c.List {
		if t, ok := f.info.Types[e]; ok && t.Value == nil && t.Type != nil && isBool(t.Type) && !t.IsType() {
			f.condition(e)
		}
	}
}

func isBool(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsBoolean != 0
}

func (f *finder) constant(e ast.Expr) bool {
	t, ok := f.info.Types[e]
	return !ok || t.Value != nil && t.Value.Kind() != constant.Unknown || t.IsType()
}

var boundary = map[token.Token]string{token.LSS: "<=", token.LEQ: "<", token.GTR: ">=", token.GEQ: ">"}

var arithmetic = map[token.Token]string{token.ADD: "Add", token.SUB: "Sub", token.MUL: "Mul", token.QUO: "Div"}

// expression finds the changes of an expression, and reports whether to look inside.
func (f *finder) expression(e ast.Expr) bool {
	if f.constant(e) {
		_, typed := f.info.Types[e]
		return !typed // an operand of a selector, for example
	}
	switch e := e.(type) {
	case *ast.BinaryExpr:
		f.binary(e)
	case *ast.UnaryExpr:
		if e.Op == token.SUB {
			n := f.number(e.Pos(), "negative", f.text(e))
			f.site(e, func(inner func(ast.Node) string) string { return fmt.Sprintf("%s.Neg(%d, %s)", alias, n, inner(e.X)) })
		}
	case *ast.CallExpr:
		f.call(e)
	case *ast.CompositeLit:
		f.fields(e)
	}
	return true
}

// fields forgets the fields of a struct, one at a time.
func (f *finder) fields(e *ast.CompositeLit) {
	if _, ok := f.info.Types[e].Type.Underlying().(*types.Struct); !ok {
		return
	}
	for _, x := range e.Elts {
		kv, ok := x.(*ast.KeyValueExpr)
		if !ok || f.constant(kv.Value) || !f.typed(kv.Value) {
			continue
		}
		n := f.number(kv.Pos(), "forgotten field", f.text(kv))
		f.site(kv.Value, func(inner func(ast.Node) string) string {
			return fmt.Sprintf("%s.Field(%d, %s)", alias, n, inner(kv.Value))
		})
	}
}

// typed reports whether an expression has the same type wherever it stands.
func (f *finder) typed(e ast.Expr) bool {
	t := f.info.Types[e]
	_, binary := ast.Unparen(e).(*ast.BinaryExpr)
	_, not := ast.Unparen(e).(*ast.UnaryExpr)
	_, named := t.Type.(*types.Named)
	return !t.IsNil() && !isShift(e) && !(named && isBool(t.Type) && (binary || not))
}

func (f *finder) binary(e *ast.BinaryExpr) {
	switch {
	case e.Op == token.LAND || e.Op == token.LOR:
		f.operand(e, e.X)
		f.operand(e, e.Y)
	case boundary[e.Op] != "":
		other := boundary[e.Op]
		limit, not := f.add(e.OpPos, "boundary", f.text(e)), f.add(e.OpPos, "negation", f.text(e))
		f.site(e, func(inner func(ast.Node) string) string {
			return fmt.Sprintf("(%s != (%s && (%s) %s (%s) || !%s && (%s) %v (%s)))", not, limit, f.text(e.X), other, f.text(e.Y), limit, inner(e.X), e.Op, inner(e.Y))
		})
	case e.Op == token.EQL || e.Op == token.NEQ:
		not := f.add(e.OpPos, "negation", f.text(e))
		f.site(e, func(inner func(ast.Node) string) string {
			return fmt.Sprintf("(%s != (%s %v %s))", not, inner(e.X), e.Op, inner(e.Y))
		})
	case arithmetic[e.Op] != "":
		b, ok := f.info.Types[e].Type.Underlying().(*types.Basic)
		if !ok || b.Info()&types.IsNumeric == 0 || b.Info()&types.IsComplex != 0 || isShift(e.X) || isShift(e.Y) {
			return
		}
		n := f.number(e.OpPos, "arithmetic", f.text(e))
		f.site(e, func(inner func(ast.Node) string) string {
			return fmt.Sprintf("%s.%s(%d, %s, %s)", alias, arithmetic[e.Op], n, inner(e.X), inner(e.Y))
		})
	}
}

// isShift reports whether an expression may have no type of its own.
func isShift(e ast.Expr) bool {
	b, ok := ast.Unparen(e).(*ast.BinaryExpr)
	return ok && (b.Op == token.SHL || b.Op == token.SHR)
}

// operand drops one operand of a conjunction or disjunction.
func (f *finder) operand(e *ast.BinaryExpr, x ast.Expr) {
	if f.constant(x) {
		return
	}
	on := f.add(x.Pos(), "forgotten operand", f.text(x)+" of "+f.text(e))
	f.site(x, func(inner func(ast.Node) string) string {
		if e.Op == token.LAND {
			return fmt.Sprintf("(%s || (%s))", on, inner(x))
		}
		return fmt.Sprintf("(!%s && (%s))", on, inner(x))
	})
}

// twins are functions that are taken for each other.
var twins = map[string]string{"Later": "Earlier", "Earlier": "Later", "Trust": "Wait", "Wait": "Trust", "Upper": "Lower", "Lower": "Upper",
	"Union": "Intersect", "Intersect": "Union", "Minus": "Intersect"}

func (f *finder) call(e *ast.CallExpr) {
	switch fun := e.Fun.(type) {
	case *ast.Ident:
		if _, builtin := f.info.Uses[fun].(*types.Builtin); !builtin || fun.Name != "min" && fun.Name != "max" {
			return
		}
		name := map[string]string{"min": "Min", "max": "Max"}[fun.Name]
		n := f.number(e.Pos(), "min and max", f.text(e))
		f.site(e, func(inner func(ast.Node) string) string {
			out := fmt.Appendf(nil, "%s.%s(%d", alias, name, n)
			for _, a := range e.Args {
				out = append(out, ", "+inner(a)...)
			}
			return string(out) + ")"
		})
	case *ast.SelectorExpr:
		o, ok := f.info.Uses[fun.Sel].(*types.Func)
		if !ok || o.Pkg() == nil || o.Pkg().Name() != "timed" || twins[fun.Sel.Name] == "" {
			return
		}
		n := f.number(fun.Sel.Pos(), "twin", f.text(e))
		f.site(fun, func(inner func(ast.Node) string) string {
			return fmt.Sprintf("%s.Pick(%d, %s.%s, %s.%s)", alias, n, inner(fun.X), fun.Sel.Name, f.text(fun.X), twins[fun.Sel.Name])
		})
	}
}

// statements finds the changes of whole statements.
func (f *finder) statements(list []ast.Stmt) {
	for _, s := range list {
		switch s := s.(type) {
		case *ast.AssignStmt:
			f.assignment(s)
		case *ast.IncDecStmt:
			f.step(s)
		case *ast.ExprStmt:
			if c, ok := s.X.(*ast.CallExpr); ok && !isPanic(c) {
				f.forgotten(s)
			}
		case *ast.BranchStmt:
			if s.Tok == token.CONTINUE && s.Label == nil && !f.inEndless(s) {
				on := f.add(s.Pos(), "break for continue", "continue")
				f.site(s, func(func(ast.Node) string) string { return "if " + on + " { break }; continue" })
			}
		}
	}
}

// inEndless reports whether a break might end a loop that a function ends with.
func (f *finder) inEndless(s ast.Stmt) bool {
	return slices.ContainsFunc(f.endless, func(n ast.Node) bool { return n.Pos() <= s.Pos() && s.End() <= n.End() })
}

func isPanic(c *ast.CallExpr) bool {
	id, ok := c.Fun.(*ast.Ident)
	return ok && id.Name == "panic"
}

func (f *finder) forgotten(s ast.Stmt) {
	on := f.add(s.Pos(), "forgotten statement", f.text(s))
	f.site(s, func(inner func(ast.Node) string) string { return "if !" + on + " { " + inner(s) + " }" })
}

func (f *finder) step(s *ast.IncDecStmt) {
	other := map[token.Token]string{token.INC: "--", token.DEC: "++"}[s.Tok]
	on := f.add(s.Pos(), "increment and decrement", f.text(s))
	off := f.add(s.Pos(), "forgotten statement", f.text(s))
	f.site(s, func(inner func(ast.Node) string) string {
		return fmt.Sprintf("if %s { %s%s } else if !%s { %s }", on, f.text(s.X), other, off, inner(s))
	})
}

var assignments = map[token.Token]token.Token{token.ADD_ASSIGN: token.SUB_ASSIGN, token.SUB_ASSIGN: token.ADD_ASSIGN,
	token.OR_ASSIGN: token.AND_ASSIGN, token.AND_ASSIGN: token.OR_ASSIGN}

func (f *finder) assignment(s *ast.AssignStmt) {
	switch other := assignments[s.Tok]; {
	case s.Tok == token.DEFINE || len(s.Lhs) == 1 && isBlank(s.Lhs[0]):
	case other != 0 && f.numeric(s.Lhs[0]):
		on, off := f.add(s.Pos(), "assignment", f.text(s)), f.add(s.Pos(), "forgotten statement", f.text(s))
		f.site(s, func(inner func(ast.Node) string) string {
			return fmt.Sprintf("if %s { %s %v %s } else if !%s { %s }", on, f.text(s.Lhs[0]), other, f.text(s.Rhs[0]), off, inner(s))
		})
	default:
		f.forgotten(s)
	}
}

func (f *finder) numeric(e ast.Expr) bool {
	b, ok := f.info.Types[e].Type.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsNumeric != 0
}

func isBlank(e ast.Expr) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == "_"
}

// render returns the text of the file with all changes in it.
func (f *finder) render() string {
	// Outer sites come first and, of the same range, those that were found first.
	slices.SortStableFunc(f.sites, func(a, b site) int { return cmp.Or(a.from-b.from, b.to-a.to) })
	return f.span(0, len(f.src), 0)
}

// span renders a range with the sites from an index on.
func (f *finder) span(from, to, first int) string {
	var out []byte
	at := from
	for i := first; i < len(f.sites); i++ {
		s := &f.sites[i]
		if s.from < at || s.to > to {
			if s.from >= to {
				break
			}
			continue
		}
		out = append(out, f.src[at:s.from]...)
		out = append(out, s.build(func(n ast.Node) string { return f.span(f.at(n.Pos()), f.at(n.End()), i+1) })...)
		at = s.to
	}
	return string(append(out, f.src[at:to]...))
}
