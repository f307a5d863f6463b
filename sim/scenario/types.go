package scenario

import (
	"strings"
	"time"
)

// The only apiVersion and kind that Parse accepts.
const (
	APIVersion = "velosim.io/v1alpha1"
	Kind       = "Scenario"
)

// Scenario is what a file describes: what the user creates, how the plugins behave, which faults strike, and what must
// come of it. Parse fills in every default, so a world never has to know one.
type Scenario struct {
	// APIVersion says which version of the format it is.
	APIVersion string `json:"apiVersion"`
	// Kind of document.
	Kind string `json:"kind"`
	// Metadata has the name, and the reports in upstream trackers.
	Metadata Metadata `json:"metadata"`
	// Description is the comment at the top of the file, without its "#".
	Description string `json:"description,omitempty"`
	// Worlds that can run it: virtual, envtest. Default: all.
	Worlds []string `json:"worlds,omitempty"`
	// Releases of Velero that it is about, as `velosim deviations` names them: v1.14, v1.18. Default: all.
	Releases []string `json:"releases,omitempty"`
	// Server is how Velero's server was started.
	Server Server `json:"server,omitzero"`
	// CRDs are what Velero's own definitions of its objects are like, where they are not those of its release.
	CRDs CRDs `json:"crds,omitzero"`
	// Store is what the object store is like.
	Store Store `json:"store,omitzero"`
	// Backup is short for a list with one backup. Parse makes Backups of it.
	Backup *Backup `json:"backup,omitempty"`
	// Backups are those that the user creates, one after the other, or at their points of creation. Default: one with every
	// default, unless there are schedules.
	Backups []Backup `json:"backups,omitempty"`
	// Restore is short for a list with one restore. Parse makes Restores of it.
	Restore *Restore `json:"restore,omitempty"`
	// Restores are those that the user creates, one after the other when the backups have ended, or at their points of creation.
	// The items are deleted from the cluster just before.
	Restores []Restore `json:"restores,omitempty"`
	// Schedules are created before the backups.
	Schedules []Schedule `json:"schedules,omitempty"`
	// Items are objects in the cluster. Default: configmaps/app/settings, unless there are manifests outside the namespace velero.
	Items []Item `json:"items,omitempty"`
	// Manifests are items as one gives them to kubectl. Parse adds them to Items. In the namespace velero, the server's own, is what a spec
	// refers to: config maps of policies, locations of volume snapshots. A restore does not delete it before.
	Manifests []Manifest `json:"manifests,omitempty"`
	// Plugins that are registered with the server.
	Plugins []Plugin `json:"plugins,omitempty"`
	// Faults that strike, and what the user does.
	Faults []Fault `json:"faults,omitempty"`
	// Expect is what must come of it.
	Expect Expect `json:"expect"`
}

// Metadata says what the scenario is known by.
type Metadata struct {
	// Name is a DNS label; in the catalogue it equals the file's name.
	Name string `json:"name"`
	// Reports in upstream trackers that it reproduces, or shows to be fixed: velero#6490.
	Reports []string `json:"reports,omitempty"`
}

// Server is what the flags of `velero server` say (pkg/cmd/server/config/config.go).
type Server struct {
	// ConcurrentBackups is how many backups may be InProgress at a time. Default: 1.
	ConcurrentBackups int `json:"concurrentBackups,omitempty"`
	// ItemOperationSyncFrequency is how often Velero asks for the progress of operations. Default: 10s.
	ItemOperationSyncFrequency Duration `json:"itemOperationSyncFrequency,omitzero"`
	// ResourceTimeout is how long Velero tries to patch a resource, and waits for others. Default: 10m.
	ResourceTimeout Duration `json:"resourceTimeout,omitzero"`
	// GarbageCollectionFrequency is how often Velero looks for expired backups. Default: 1h.
	GarbageCollectionFrequency Duration `json:"garbageCollectionFrequency,omitzero"`
	// BackupSyncPeriod is how often Velero looks in the object store for backups that the cluster does not have. Default: 1m.
	BackupSyncPeriod Duration `json:"backupSyncPeriod,omitzero"`
}

// Backup is a Velero Backup that the user creates.
type Backup struct {
	// Name of the Backup object. Default: backup-1, backup-2, ….
	Name string `json:"name,omitempty"`
	BackupSpec
	// Annotations of the Backup object: {example.io/quiesce.prebackup: skip} skips the plugin's PreBackupAction.
	Annotations map[string]string `json:"annotations,omitempty"`
	// At is the point at which the user creates it. Default: when what comes before it in its list has ended.
	At *Point `json:"at,omitempty"`
}

// BackupSpec is the part of a Velero Backup's spec that a scenario sets.
type BackupSpec struct {
	// ItemOperationTimeout is how long Velero waits for each item operation. Default: 4h, the server's own.
	ItemOperationTimeout Duration `json:"itemOperationTimeout,omitzero"`
	// TTL is how long the backup is kept. Default: 720h, the server's own.
	TTL Duration `json:"ttl,omitzero"`
	// IncludedNamespaces are the namespaces that are backed up. Default: those of all items but of velero, the server's own.
	IncludedNamespaces []string `json:"includedNamespaces,omitempty"`
	// StorageLocation is where it is stored: default, the only one there is; with another the backup fails validation. Default: none is
	// named, and Velero sets it to default when the backup starts.
	StorageLocation string `json:"storageLocation,omitempty"`
	// Spec is what else the Backup's spec says.
	Spec Spec `json:"spec,omitempty"`
}

// located tells whether there is such a storage location.
func (b BackupSpec) located() bool {
	return b.StorageLocation == "" || b.StorageLocation == defaultStorageLocation
}

// Spec is what else the spec of a Backup or Restore says, as Velero's API has it: excludedResources: [secrets]. Namespaces in
// includedNamespaces, excludedNamespaces and namespaceMapping are those of the scenario. Durations keep their length where time is real.
type Spec map[string]any

// Restore is a Velero Restore that the user creates.
type Restore struct {
	// Name of the Restore object. Default: restore-1, restore-2, ….
	Name string `json:"name,omitempty"`
	// Backup that it restores, by name; it need not exist. Default: the scenario's only one, or the last one of Schedule.
	Backup string `json:"backup,omitempty"`
	// Schedule whose last Completed backup it restores, by name; it need not exist. Which one that is, Velero finds. It excludes Backup.
	Schedule string `json:"schedule,omitempty"`
	// ItemOperationTimeout is how long Velero waits for each item operation. Default: 4h, the server's own.
	ItemOperationTimeout Duration `json:"itemOperationTimeout,omitzero"`
	// Spec is what else the Restore's spec says.
	Spec Spec `json:"spec,omitempty"`
	// Annotations of the Restore object: {example.io/quiesce.prerestore: skip} skips the plugin's PreRestoreAction.
	Annotations map[string]string `json:"annotations,omitempty"`
	// At is the point at which the user creates it, whatever has become of its backup. Default: when all backups without At have
	// ended, and the restores before it, if its backup is Completed or PartiallyFailed.
	At *Point `json:"at,omitempty"`
}

// Schedule is a Velero Schedule that the user creates. In expectations and points its backups are backup/NAME-1, backup/NAME-2, …, in
// the order of their creation: Velero's names for them end in the time.
type Schedule struct {
	// Name of the Schedule object; at most 48 characters, as Velero adds the time to name a backup.
	Name string `json:"name"`
	// Every is how long after one backup the next is due, in whole seconds; the first comes so long after the schedule.
	Every Duration `json:"every"`
	// Backups is how many it makes before the user pauses it. Default: 1.
	Backups int `json:"backups,omitempty"`
	// Template is the spec of its backups.
	Template BackupSpec `json:"template,omitzero"`
}

// Manifest is a Kubernetes object. It has apiVersion, kind, metadata.namespace and metadata.name.
type Manifest map[string]any

// Item is a namespaced object of the cluster, written resource/namespace/name: configmaps/app/settings, secrets/app/token.
type Item string

// Resource is the item's; empty if it is not written as an item.
func (i Item) Resource() string { return i.part(0) }

// Namespace is the item's.
func (i Item) Namespace() string { return i.part(1) }

// Name is the item's.
func (i Item) Name() string { return i.part(2) }

func (i Item) part(n int) string {
	parts := strings.SplitN(string(i), "/", 3)
	if n >= len(parts) {
		return ""
	}
	return parts[n]
}

// Duration is a time.Duration written as Go writes it: 4h, 90s, 1h30m.
type Duration struct{ time.Duration }

// MarshalText implements encoding.TextMarshaler.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (d *Duration) UnmarshalText(b []byte) (err error) {
	d.Duration, err = time.ParseDuration(string(b))
	return err
}
