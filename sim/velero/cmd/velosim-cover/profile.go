package main

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// position is a place in a file: line and column, both from 1, the column in bytes.
type position struct{ line, column int }

func (p position) before(q position) bool {
	return p.line < q.line || p.line == q.line && p.column < q.column
}

// block is a run of statements that are executed together.
type block struct {
	from, to   position
	statements int
	reached    bool
}

// parseProfile reads a coverage profile in Go's text format, and returns the blocks of one package by the name of their file. What is
// there more than once counts once, and is reached if it ever is.
func parseProfile(r io.Reader, pkg string) (map[string][]block, error) {
	type key struct {
		file     string
		from, to position
	}
	files := map[string][]block{}
	index := map[key]int{}
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		line := lines.Text()
		if n == 1 {
			if !strings.HasPrefix(line, "mode: ") {
				return nil, fmt.Errorf("line 1: %q is no mode: this is no coverage profile", line)
			}
			continue
		}
		path, b, err := parseBlock(line)
		if err != nil {
			return nil, fmt.Errorf("line %d: %q: %w", n, line, err)
		}
		file, ok := strings.CutPrefix(path, pkg+"/")
		if !ok {
			continue
		}
		k := key{file, b.from, b.to}
		i, known := index[k]
		if !known {
			index[k] = len(files[file])
			files[file] = append(files[file], b)
			continue
		}
		files[file][i].reached = files[file][i].reached || b.reached
	}
	return files, lines.Err()
}

// parseBlock parses a line of a profile: path:line.column,line.column statements count.
func parseBlock(line string) (path string, b block, err error) {
	fields := strings.Fields(line)
	if len(fields) != 3 {
		return "", block{}, fmt.Errorf("%d fields instead of 3", len(fields))
	}
	colon := strings.LastIndexByte(fields[0], ':')
	from, to, ok := strings.Cut(fields[0][colon+1:], ",")
	if colon < 0 || !ok {
		return "", block{}, fmt.Errorf("%s is no range of a file", fields[0])
	}
	if b.from, err = parsePosition(from); err != nil {
		return "", block{}, err
	}
	if b.to, err = parsePosition(to); err != nil {
		return "", block{}, err
	}
	if b.statements, err = strconv.Atoi(fields[1]); err != nil || b.statements < 0 {
		return "", block{}, fmt.Errorf("%s is no number of statements", fields[1])
	}
	count, err := strconv.ParseUint(fields[2], 10, 64)
	if err != nil {
		return "", block{}, fmt.Errorf("%s is no count", fields[2])
	}
	b.reached = count > 0
	return fields[0][:colon], b, nil
}

func parsePosition(s string) (position, error) {
	line, column, _ := strings.Cut(s, ".")
	l, err := strconv.Atoi(line)
	c, err2 := strconv.Atoi(column)
	if err != nil || err2 != nil {
		return position{}, fmt.Errorf("%s is no line.column", s)
	}
	return position{l, c}, nil
}
