package phase

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// What the demanded reading asks of plugin calls: see the rules plugin-call-without-deadline and progress-error-is-final.
const (
	// CallDeadline is how long a call of a plugin may take.
	CallDeadline = 10 * time.Minute
	// ProgressRetries is how many further polls, in a row, an operation survives whose Progress returns an error.
	ProgressRetries = 3
)

// PluginCallWithoutDeadline is the name of the rule that a plugin call breaks, in the demanded reading, by going on for longer
// than CallDeadline.
const PluginCallWithoutDeadline = "plugin-call-without-deadline"

// StaleReadActedUpon is the name of the rule by which, in a release, two runs of one object may go on at once.
const StaleReadActedUpon = "stale-read-acted-upon"

// DeletionForgottenByRestart is the name of the rule by which, in a release, a backup stays Deleting.
const DeletionForgottenByRestart = "deletion-forgotten-by-restart"

// Rules are a reading of the specification: what the server does where readings differ. Each boolean is a Rule of All,
// named by what deviates: all of them but Unqueued are false in the demanded reading.
type Rules struct {
	// Name of the reading: "demanded", "v1.18".
	Name string
	// Unqueued: the release has no queue, so that a new backup is run at once. This is no deviation: what is demanded of a release
	// has a queue if it does ([Rules.Demanded]).
	Unqueued bool

	PluginCallWithoutDeadline     bool
	ReadyBackupForgottenByRestart bool
	ProgressErrorIsFinal          bool
	FailureForgottenBeforePatch   bool
	MissingOperationsReadAsNone   bool
	FinalUploadFailureIgnored     bool
	FinalizerRetriedForEver       bool
	HookStatusSentOnce            bool
	StartMarksOnce                bool
	RunPatchGivenUp               bool
	BegunRunForgotten             bool
	QueueSlotLeaked               bool
	GivenUpBackupStaysTracked     bool
	UnfinishedBackupRestored      bool
	DeletionOvertaken             bool
	StaleReadActedUpon            bool
	// DeletionForgottenByRestart makes no difference to Step, which does not lead on from Deleting.
	DeletionForgottenByRestart bool
}

// Rule is a rule in which a release deviates from what is demanded.
type Rule struct {
	// Name in kebab case, as scenarios give it.
	Name string
	// Statement is what is demanded.
	Statement string
	// Deviation is what the releases do instead.
	Deviation string
	// Seen is what a user of Velero sees of it.
	Seen string
	// Remedy is what the user can do about it.
	Remedy string
	// Source of the demand ("documented", with the section, or "proposed by velosim") and of the deviation.
	Source string
	// Witness is the scenario that shows the deviation. Empty: it takes a race that few seeds show.
	Witness string
	// Breaks are the invariants that the deviation breaks, by name.
	Breaks []string
	// Reports in upstream trackers, such as velero#2922. None: unreported.
	Reports []string
	// Releases are the readings that deviate, such as "v1.18".
	Releases []string

	field func(*Rules) *bool
}

// Machine reports whether the rule makes a difference to Step.
func (r Rule) Machine() bool { return r.field != nil }

// Deviates reports whether the reading deviates in this rule.
func (r Rule) Deviates(in Rules) bool {
	if !r.Machine() {
		return slices.Contains(r.Releases, in.Name)
	}
	return *r.field(&in)
}

// Without is the reading without the deviation in rule.
func (r Rules) Without(rule Rule) Rules {
	if rule.field != nil {
		*rule.field(&r) = false
	}
	return r
}

// With is the reading with the deviation in rule.
func (r Rules) With(rule Rule) Rules {
	if rule.field != nil {
		*rule.field(&r) = true
	}
	return r
}

// Named returns the rule of that name. Of one that is unknown it returns the zero Rule, in which no reading deviates.
func Named(name string) Rule {
	for _, rule := range All() {
		if rule.Name == name {
			return rule
		}
	}
	return Rule{}
}

// Demanded is the reading that says what users need of a release with a queue, as all have from 1.18 on.
func Demanded() Rules { return Rules{Name: "demanded"} }

// Demanded is the reading that says what users need of the release whose reading r is.
func (r Rules) Demanded() Rules { return Rules{Name: Demanded().Name, Unqueued: r.Unqueued} }

// Has reports whether the reading knows the phase: one without a queue lacks two.
func (r Rules) Has(p Phase) bool { return !r.Unqueued || p != Queued && p != ReadyToStart }

// ForRelease is the reading that says what a Velero release does. The version is written 1.18.3, v1.18.3 or v1.18; the
// error for one without a reading names those that have one.
func ForRelease(version string) (Rules, error) {
	v := strings.TrimPrefix(version, "v")
	for _, release := range []Rules{{Name: "v1.14", Unqueued: true}, {Name: "v1.18"}} {
		if name := strings.TrimPrefix(release.Name, "v"); v == name || strings.HasPrefix(v, name+".") {
			for _, rule := range All() {
				if slices.Contains(rule.Releases, release.Name) {
					release = release.With(rule)
				}
			}
			return release, nil
		}
	}
	return Rules{}, fmt.Errorf("no rules for Velero release %q: use 1.14.x or 1.18.x", version)
}
