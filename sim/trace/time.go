package trace

import (
	"fmt"
	"time"
)

// String is t as a Go duration: 4h0m10s.
func (t Time) String() string { return time.Duration(t).String() }

// MarshalText implements [encoding.TextMarshaler].
func (t Time) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler]. It accepts what [time.ParseDuration] does.
func (t *Time) UnmarshalText(b []byte) error {
	d, err := time.ParseDuration(string(b))
	if err != nil {
		return fmt.Errorf("%q is not a time such as 4h0m10s", b)
	}
	*t = Time(d)
	return nil
}
