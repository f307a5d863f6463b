package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/sirupsen/logrus"
)

const (
	urlVariable     = "NOTIFY_URL"
	timeoutVariable = "NOTIFY_TIMEOUT"
	defaultTimeout  = time.Minute

	firstWait = 500 * time.Millisecond // doubled after each attempt
	longest   = 10 * time.Second       // of a wait, and of an attempt
)

// webhook posts JSON.
type webhook struct {
	url     string
	timeout time.Duration // of a notification with all its attempts
	wait    time.Duration // after the first attempt
	log     logrus.FieldLogger
}

func newWebhook(log logrus.FieldLogger, env func(string) string) (*webhook, error) {
	w := &webhook{url: env(urlVariable), timeout: defaultTimeout, wait: firstWait, log: log}
	if u, err := url.Parse(w.url); err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return nil, fmt.Errorf("%s must be the http or https URL of the webhook", urlVariable) // it may hold a secret
	}
	if s := env(timeoutVariable); s != "" {
		var err error
		if w.timeout, err = time.ParseDuration(s); err != nil || w.timeout <= 0 {
			return nil, fmt.Errorf("%s is %q: it must be a duration as 30s", timeoutVariable, s)
		}
	}
	return w, nil
}

// post posts the notification until it is accepted, or refused for good, or the time is over. The key is the same whenever it is posted, so
// that the receiver can tell repetitions.
func (w *webhook) post(ctx context.Context, key string, notification any) error {
	body, err := json.Marshal(notification)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, w.timeout)
	defer cancel()
	for attempt, wait := 1, w.wait; ; attempt, wait = attempt+1, min(2*wait, longest) {
		again, err := w.attempt(ctx, key, body)
		if err == nil || !again {
			return err
		}
		w.log.WithError(err).Infof("Attempt %d to notify failed", attempt)
		select {
		case <-ctx.Done():
			return fmt.Errorf("gave up after %d attempts: %w", attempt, err)
		case <-time.After(wait):
		}
	}
}

// attempt posts once, and says whether another attempt may help.
func (w *webhook) attempt(ctx context.Context, key string, body []byte) (again bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, w.url, bytes.NewReader(body))
	if err != nil {
		return false, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Idempotency-Key", key)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		if e, ok := err.(*url.Error); ok {
			err = e.Err // without the URL
		}
		return true, err
	}
	defer response.Body.Close()
	io.Copy(io.Discard, io.LimitReader(response.Body, 1<<20)) //nolint:errcheck // so that the connection can be used again
	if response.StatusCode/100 == 2 {
		return false, nil
	}
	again = response.StatusCode >= 500 || response.StatusCode == http.StatusTooManyRequests || response.StatusCode == http.StatusRequestTimeout
	return again, fmt.Errorf("the webhook answered %s", response.Status)
}
