package scenario

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// kind of a node, in the words of the messages.
type kind string

const (
	null     kind = "nothing"
	boolean  kind = "a boolean"
	number   kind = "a number"
	text     kind = "a string"
	mapping  kind = "a mapping"
	sequence kind = "a list"
)

// node is a value of the file.
type node struct {
	kind   kind
	text   string // of a scalar
	at     span
	fields []field // of a mapping
	items  []*node // of a sequence
}

// field is a key of a mapping and its value.
type field struct {
	name  string
	at    span // of the name
	value *node
}

// parseYAML turns the text into its one value. It returns nil if there is none, after reporting why.
func parseYAML(r *report, source string) *node {
	tokens := lexer.Tokenize(source)
	checkTokens(r, tokens)
	if len(r.errors) > 0 {
		return nil
	}
	// Comments only move nodes about, and duplicate keys are reported below: the parser would stop at the first.
	f, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		at, message := span{line: 1}, err.Error()
		if syntax := yaml.Error(nil); errors.As(err, &syntax) {
			message = syntax.GetMessage()
			if t := syntax.GetToken(); t != nil {
				at = spanOf(t)
			}
		}
		r.add(at, "", "", "not valid YAML: "+message)
		return nil
	}
	for _, doc := range f.Docs {
		if doc.Body == nil {
			continue
		}
		n := convert(r, doc.Body, 0)
		if len(r.errors) == 0 && n.kind != mapping {
			r.add(n.at, "", "", fmt.Sprintf("a scenario is a mapping that starts with apiVersion and kind, not %s", n.kind))
		}
		if len(r.errors) > 0 {
			return nil
		}
		return n
	}
	r.add(span{line: 1}, "", "", "the file is empty; a scenario has at least apiVersion, kind, metadata and expect")
	return nil
}

// checkTokens reports what a scenario may not use of YAML, and what the parser must not be given: it recurses, and its time
// grows with the square of a mapping's fields.
func checkTokens(r *report, tokens token.Tokens) {
	reject := func(t *token.Token, what string) { r.add(spanOf(t), "", "", what) }
	var content, ended bool
	var open nesting
	for _, t := range tokens {
		switch t.Type {
		case token.CommentType:
			continue
		case token.DocumentHeaderType:
			ended = ended || content
		case token.DocumentEndType:
			ended = true
		case token.AnchorType, token.AliasType:
			reject(t, "anchors and aliases are not allowed; write the value out")
		case token.MergeKeyType:
			reject(t, "merge keys are not allowed; write the fields out")
		case token.TagType:
			reject(t, "tags are not allowed; remove it")
		case token.DirectiveType:
			reject(t, "directives are not allowed; remove it")
			return
		case token.MappingKeyType:
			reject(t, "\"?\" keys are not allowed; write KEY: VALUE")
		default:
			content = true
		}
		if ended && t.Type != token.DocumentEndType {
			reject(t, "a second document; a file holds exactly one scenario")
			return
		}
		open.add(t)
		if len(open) > maxDepth {
			reject(t, fmt.Sprintf("nested deeper than %d", maxDepth))
			return
		}
		if len(open) > 0 && open.top().keys > maxFields {
			reject(t, fmt.Sprintf("more than %d fields in one mapping", maxFields))
			return
		}
	}
}

// nesting follows the collections that are open at a token: those in brackets, and block collections by their columns.
type nesting []collection

type collection struct {
	column int // 0: in brackets
	keys   int // so far
}

func (n *nesting) add(t *token.Token) {
	switch t.Type {
	case token.SequenceStartType, token.MappingStartType:
		*n = append(*n, collection{})
	case token.SequenceEndType, token.MappingEndType:
		n.closeFlow()
	case token.SequenceEntryType:
		n.block(t.Position.Column, 0)
	case token.MappingValueType:
		if t.Prev != nil {
			n.block(t.Prev.Position.Column, 1)
		}
	}
}

func (n *nesting) closeFlow() {
	for i := len(*n) - 1; i >= 0; i-- {
		if (*n)[i].column == 0 {
			*n = (*n)[:i]
			return
		}
	}
}

// block enters the block collection at the column, unless in brackets, where columns mean nothing.
func (n *nesting) block(column, keys int) {
	for len(*n) > 0 && n.top().column > column {
		*n = (*n)[:len(*n)-1]
	}
	if len(*n) == 0 || n.top().column != 0 && n.top().column < column {
		*n = append(*n, collection{column: column})
	}
	n.top().keys += keys
}

func (n *nesting) top() *collection { return &(*n)[len(*n)-1] }

func convert(r *report, n ast.Node, depth int) *node {
	at := span{}
	if t := n.GetToken(); t != nil {
		at = spanOf(t)
	}
	if depth > maxDepth {
		r.add(at, "", "", fmt.Sprintf("nested deeper than %d", maxDepth))
		return &node{kind: null, at: at}
	}
	switch n := n.(type) {
	case *ast.NullNode:
		return &node{kind: null, at: at}
	case *ast.BoolNode:
		return &node{kind: boolean, text: fmt.Sprint(n.Value), at: at}
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		return &node{kind: number, text: n.GetToken().Value, at: at}
	case *ast.StringNode:
		return &node{kind: text, text: n.Value, at: at}
	case *ast.LiteralNode:
		return &node{kind: text, text: n.Value.Value, at: at}
	case *ast.SequenceNode:
		result := &node{kind: sequence, at: at}
		for _, item := range n.Values {
			result.items = append(result.items, convert(r, item, depth+1))
		}
		return result
	case ast.MapNode:
		return convertMapping(r, n, at, depth)
	default:
		r.add(at, "", "", fmt.Sprintf("%s is not allowed here", n.Type().YAMLName()))
		return &node{kind: null, at: at}
	}
}

func convertMapping(r *report, n ast.MapNode, at span, depth int) *node {
	result := &node{kind: mapping, at: at}
	for iter := n.MapRange(); iter.Next(); {
		key := iter.Key().GetToken()
		f := field{name: key.Value, at: spanOf(key), value: convert(r, iter.Value(), depth+1)}
		if len(result.fields) == 0 && !isFlow(n) {
			result.at = f.at
		}
		if f.value.kind == null { // often without a token of its own
			f.value.at = f.at
		}
		result.fields = append(result.fields, f)
	}
	return result
}

func isFlow(n ast.MapNode) bool {
	m, ok := n.(*ast.MappingNode)
	return ok && m.IsFlowStyle
}

// spanOf a token: its first line.
func spanOf(t *token.Token) span {
	line, _, _ := strings.Cut(strings.TrimSpace(t.Origin), "\n")
	return span{line: t.Position.Line, column: t.Position.Column, width: utf8.RuneCountInString(line)}
}
