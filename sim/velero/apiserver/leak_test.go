package apiserver

import (
	"context"
	"errors"
	"net/http"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// losesReplies is a Gate.
type losesReplies struct{}

func (losesReplies) Request(context.Context, Request) error            { return nil }
func (losesReplies) Reply(context.Context, Request, bool, error) error { return errors.New("lost") }
func (losesReplies) Watch(context.Context, Request, WatchEvent) error  { return nil }

// A watch that is over costs nothing.
func TestWatchesEnd(t *testing.T) {
	s, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://apiserver/api/v1/pods?watch=true", nil)
	if err != nil {
		t.Fatal(err)
	}
	pods := s.resources[schema.GroupResource{Resource: "pods"}]
	response, err := s.Transport(nil).RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	if len(pods.watches) != 1 {
		t.Fatalf("%d watches, want 1", len(pods.watches))
	}
	if err := response.Body.Close(); err != nil || len(pods.watches) != 0 {
		t.Errorf("%d watches after Close (%v), want none", len(pods.watches), err)
	}
	if _, err := s.Transport(losesReplies{}).RoundTrip(r); err == nil || len(pods.watches) != 0 {
		t.Errorf("%d watches after a lost reply (%v), want none", len(pods.watches), err)
	}
}
