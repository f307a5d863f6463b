package cluster

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/velosim/velosim/sim/scenario"
)

// Write is a write that the server sends to the API server, as points name it.
type Write struct {
	// Object that is written: backup/backup-1, deletion/backup-1, configmaps/app/settings.
	Object string
	Verb   string
	// From is the object's phase before the write, and Phase the one that the write brings; empty: none.
	From, Phase string
}

// NewWrite says how points name a write. The object is as traces name it, but for the names of a schedule's backups, which are the
// cluster's; from is its phase, as far as it is known; the body is the request's.
func NewWrite(names *scenario.Naming, verb, object, from string, body []byte) Write {
	w := Write{Object: object, Verb: verb}
	kind, name, _ := strings.Cut(object, "/")
	switch kind {
	case "backup":
		w.Object = names.Next(object)
	case "restore", "schedule":
	case "backupstoragelocation":
		w.Object = "location/" + name
	case "deletebackuprequest": // its name is made from the backup's
		backup := "backup/" + name[:max(0, strings.LastIndex(name, "-"))]
		w.Object = "deletion/" + strings.TrimPrefix(names.Next(backup), "backup/")
	default: // it has no phase that a scenario knows
		return w
	}
	if from == scenario.Deleted {
		from = ""
	}
	if verb != "create" {
		w.From = named(from)
	}
	var brings struct {
		Status struct{ Phase string }
	}
	if verb != "delete" && json.Unmarshal(body, &brings) == nil && (verb == "create" || brings.Status.Phase != "") {
		w.Phase = named(brings.Status.Phase)
	}
	if w.Phase == w.From {
		w.Phase = ""
	}
	return w
}

// named is a phase by its name: an object that has none is New.
func named(phase string) string {
	if phase == "" {
		return "New"
	}
	return phase
}

// is reports whether the write is one that a point names.
func (w Write) is(at scenario.Write) bool {
	same := func(want, got string) bool { return want == "" || want == got }
	return same(at.Object, w.Object) && same(at.Verb, w.Verb) && same(at.From, w.From) && same(at.Phase, w.Phase)
}

// Refused is what a fault does that refuses writes, in words for the trace.
func Refused(w Write, f scenario.Fault) string {
	return fmt.Sprintf("the %s of %s is refused: %s%s", w.Verb, w.Object, f.Do.Refuse, often(f))
}

// ReplyLost is what a fault does that loses replies.
func ReplyLost(w Write, f scenario.Fault) string {
	return fmt.Sprintf("the %s of %s was applied, and its reply is lost%s", w.Verb, w.Object, often(f))
}

// Late is what a fault does that holds requests or replies up.
func Late(w Write, f scenario.Fault) string {
	what := "the %s of %s is held up for %s%s"
	if f.At.After {
		what = "the reply to the %s of %s is held up for %s%s"
	}
	return fmt.Sprintf(what, w.Verb, w.Object, f.Do.Latency, often(f))
}

// often says how often a fault strikes, unless it is once.
func often(f scenario.Fault) string {
	switch {
	case f.For.Duration > 0 && f.At.Write != nil && f.At.Write.Object == "":
		return fmt.Sprintf(", as others are for %s", f.For)
	case f.For.Duration > 0:
		return fmt.Sprintf(", for %s", f.For)
	case f.Times > 1:
		return fmt.Sprintf(", %d times", f.Times)
	}
	return ""
}

// What the API server asks clients to wait for before they try again, in seconds: client-go does so up to ten times, and nobody above
// learns of it. Source: k8s.io/apiserver's pkg/util/flowcontrol and pkg/registry/generic/registry, whose storage errors come with 2 s.
const (
	busyRetry    = 1
	storageRetry = 2
)

// Refusal is the error with which the API server refuses a write of the resource's object for a reason, made as it makes it.
func Refusal(reason, verb string, of schema.GroupResource, name string) *apierrors.StatusError {
	switch metav1.StatusReason(reason) {
	case metav1.StatusReasonConflict:
		return apierrors.NewConflict(of, name, errors.New("the object has been modified; please apply your changes to the latest version and try again"))
	case metav1.StatusReasonNotFound:
		return apierrors.NewNotFound(of, name)
	case metav1.StatusReasonForbidden:
		return apierrors.NewForbidden(of, name, errors.New("denied by an admission webhook"))
	case metav1.StatusReasonInvalid:
		return apierrors.NewInvalid(schema.GroupKind{Group: of.Group, Kind: of.Resource}, name, field.ErrorList{field.Invalid(nil, name, "denied by an admission policy")})
	case metav1.StatusReasonServiceUnavailable:
		return apierrors.NewServiceUnavailable("the server is currently unable to handle the request")
	case metav1.StatusReasonTimeout:
		return apierrors.NewTimeoutError("request did not complete within requested timeout", 0)
	case metav1.StatusReasonServerTimeout:
		return apierrors.NewServerTimeout(of, verb, storageRetry)
	case metav1.StatusReasonTooManyRequests:
		return apierrors.NewTooManyRequests("too many requests, please try again later", busyRetry)
	}
	return apierrors.NewInternalError(errors.New("etcdserver: no leader"))
}
