package scenario

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// linter checks what the types cannot say. Checks across fields are left out where a field they rest on is wrong already,
// so that a mistake is reported once.
type linter struct {
	*decoder
	scenario     *Scenario
	decodeErrors Errors
	objects      []string            // of the scenario
	created      map[string]creation // by object
	fates        fates
}

// sound tells whether nothing was found wrong at the path and below so far.
func (l *linter) sound(path string) bool { return !l.errors.concern(path) }

// decoded tells whether all that the file says at the path and below has arrived in the scenario.
func (l *linter) decoded(path string) bool { return !l.decodeErrors.concern(path) }

func (l *linter) lint() {
	l.head()
	l.server()
	l.crds()
	if !l.bounded() {
		return
	}
	l.objects, l.created, l.fates = l.scenario.Objects(), l.creations(), l.scenario.fates()
	l.creates()
	l.items()
	l.manifests()
	for i := range l.scenario.Plugins {
		l.plugin(i)
	}
	l.points()
	for i := range l.scenario.Faults {
		if l.full() {
			return
		}
		l.fault(i)
	}
	l.expect()
}

// complain about the value at the path, unless something else is wrong with it already.
func (l *linter) complain(path, format string, args ...any) {
	if l.sound(path) {
		l.add(l.span(path), path, "", fmt.Sprintf(format, args...))
	}
}

// oneOf reports a value that is not among those allowed. An absent one was reported before, or has a default.
func (l *linter) oneOf(path, value, what string, allowed []string) {
	if value == "" || l.full() || slices.Contains(allowed, value) || !l.sound(path) {
		return
	}
	message := fmt.Sprintf("%s is not %s", quote(value), what)
	suggestion := nearest(value, allowed)
	if suggestion == "" && len(allowed) > 0 {
		message += "; known: " + list(allowed)
	}
	l.add(l.span(path), path, suggestion, message)
}

// object reports a name that no object of the scenario has.
func (l *linter) object(path, name string) {
	l.oneOf(path, name, "an object of the scenario", l.objects)
}

// valid reports the first of the reasons why a name is not valid, as Kubernetes' validation gives them.
func (l *linter) valid(path, value, what string, reasons []string) {
	if value != "" && len(reasons) > 0 {
		reason, _, _ := strings.Cut(reasons[0], " (e.g. ") // a regular expression follows
		l.complain(path, "%s is not %s: %s", quote(value), what, reason)
	}
}

// positive reports a duration or count of zero that the file sets.
func (l *linter) positive(path string, zero bool) {
	if zero && l.has(path) {
		l.complain(path, "must be greater than zero; raise it or leave it out")
	}
}

// filled reports a list that the file sets to nothing.
func (l *linter) filled(path string, length int, what string) {
	if length == 0 && l.has(path) {
		l.complain(path, "is empty; name %s, or leave it out", what)
	}
}

// distinct reports values of a list that are there twice.
func distinct[T ~string](l *linter, path string, values []T) {
	for i, value := range values {
		if value != "" && slices.Contains(values[:i], value) {
			l.complain(fmt.Sprintf("%s[%d]", path, i), "%s is there twice; remove one", quote(string(value)))
		}
	}
}

// reports as GitHub abbreviates them: a repository, or one with its owner, and the number.
const reports = `^([A-Za-z0-9._-]+/)?[A-Za-z0-9._-]+#[1-9][0-9]*$`

func (l *linter) head() {
	s := l.scenario
	l.oneOf("apiVersion", s.APIVersion, "an apiVersion of scenarios", []string{APIVersion})
	l.oneOf("kind", s.Kind, "a kind that velosim has", []string{Kind})
	l.valid("metadata.name", s.Metadata.Name, "a DNS label", validation.IsDNS1123Label(s.Metadata.Name))
	l.filled("metadata.reports", len(s.Metadata.Reports), "a report")
	report := regexp.MustCompile(reports)
	for i, name := range s.Metadata.Reports {
		if !report.MatchString(name) {
			l.complain(fmt.Sprintf("metadata.reports[%d]", i), "%s is not a report; write repository#number, or owner/repository#number: velero#6490",
				quote(name))
		}
	}
	distinct(l, "metadata.reports", s.Metadata.Reports)
	l.filled("worlds", len(s.Worlds), "a world")
	for i, name := range s.Worlds {
		l.oneOf(fmt.Sprintf("worlds[%d]", i), name, "a world", worlds())
	}
	distinct(l, "worlds", s.Worlds)
	l.filled("releases", len(s.Releases), "a release")
	for i, name := range s.Releases {
		l.oneOf(fmt.Sprintf("releases[%d]", i), name, "a release of Velero", releases())
	}
	distinct(l, "releases", s.Releases)
}

func (l *linter) server() {
	s := l.scenario.Server
	l.positive("server.concurrentBackups", s.ConcurrentBackups == 0)
	if s.ConcurrentBackups > maxItems {
		l.complain("server.concurrentBackups", "must be at most %d, as Velero starts a worker for each", maxItems)
	}
	l.positive("server.itemOperationSyncFrequency", s.ItemOperationSyncFrequency.Duration == 0)
	l.positive("server.resourceTimeout", s.ResourceTimeout.Duration == 0)
	l.positive("server.garbageCollectionFrequency", s.GarbageCollectionFrequency.Duration == 0)
	l.positive("server.backupSyncPeriod", s.BackupSyncPeriod.Duration == 0)
}

func (l *linter) items() {
	if len(l.scenario.Items) == 0 && len(l.scenario.Manifests) == 0 {
		l.complain("items", "is empty; name an item, or leave it out for the default")
	}
	for i, item := range l.scenario.Items {
		path := fmt.Sprintf("items[%d]", i)
		if !l.has(path) {
			continue
		}
		parts := strings.Split(string(item), "/")
		if len(parts) != 3 {
			if item != "" {
				l.complain(path, "%s is not an item; write resource/namespace/name: configmaps/app/settings", quote(string(item)))
			}
			continue
		}
		if slices.Contains(resources(false), parts[0]) && !slices.Contains(resources(true), parts[0]) {
			l.complain(path, "%s need more than a name; write the object under manifests", parts[0])
		}
		l.oneOf(path, parts[0], "a resource that items may be of", resources(true))
		l.valid(path, string(item), "an item, by its namespace", validation.IsDNS1123Label(parts[1]))
		l.valid(path, string(item), "an item, by its name", validation.IsDNS1123Subdomain(parts[2]))
		if slices.Contains(l.scenario.Items[:i], item) {
			l.complain(path, "%s is there twice; remove one", quote(string(item)))
		}
	}
}

// itemsExist reports items of a list that the cluster does not have.
func (l *linter) itemsExist(path string, items []Item) {
	distinct(l, path, items)
	if !l.sound("items") || !l.sound("manifests") {
		return
	}
	known := make([]string, len(l.scenario.Items))
	for i, item := range l.scenario.Items {
		known[i] = string(item)
	}
	for i, item := range items {
		l.oneOf(fmt.Sprintf("%s[%d]", path, i), string(item), "an item of the scenario; add it to items", known)
	}
}
