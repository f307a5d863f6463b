package main

import "context"

// await returns what read returns or, if Ctrl-C comes first, the error that ends velosim. Nothing else ends the reading of
// a terminal, or of a pipe that nobody writes to; it is left behind.
func await[T any](ctx context.Context, read func() (T, error)) (T, error) {
	type outcome struct {
		value T
		err   error
	}
	done := make(chan outcome, 1)
	go func() {
		v, err := read()
		done <- outcome{v, err}
	}()
	select {
	case o := <-done:
		return o.value, o.err
	case <-ctx.Done():
		var none T
		return none, context.Cause(ctx)
	}
}
