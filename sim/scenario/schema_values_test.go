package scenario_test

import (
	"slices"
	"strings"

	"github.com/invopop/jsonschema"

	"github.com/velosim/velosim/sim/phase"
	"github.com/velosim/velosim/sim/scenario"
)

// values that the field of a struct can have, if it is a string.
func values(s *jsonschema.Schema, of, field string) {
	if s == nil || s.Type != "string" {
		return
	}
	const (
		label  = `^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
		object = `^(backup|restore)/[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	)
	named := func(most int) { s.Pattern, s.MaxLength = label, new(uint64(most)) }
	switch field {
	case "apiVersion":
		s.Const = scenario.APIVersion
	case "kind":
		s.Const = scenario.Kind
	case "worlds":
		s.Enum = enum(scenario.Worlds())
	case "releases":
		s.Enum = enum(scenario.Releases())
	case "action":
		s.Enum = enum(scenario.Actions())
		if of == "ActionOutcome" {
			s.Enum = enum(scenario.OnceActions())
		}
	case "resources":
		s.Enum = enum(scenario.Resources(false))
	case "location":
		s.Enum = enum(scenario.LocationChanges())
	case "afterCancel":
		s.Enum = enum(scenario.AfterCancels())
	case "handshake":
		s.Enum = enum(scenario.Handshakes())
	case "server":
		s.Enum = []any{scenario.DoesNotStart}
	case "method":
		s.Enum = enum(scenario.Methods())
	case "verb":
		s.Enum = enum(scenario.Verbs())
		if of == "Write" {
			s.Enum = enum(scenario.WriteVerbs())
		}
	case "refuse":
		s.Enum = enum(reasons())
	case "rule":
		s.Enum = enum(scenario.RuleNames())
	case "phase", "path", "from":
		if of == "Write" { // of several kinds of objects
			return
		}
		if of == "ActionOutcome" {
			s.Enum = enum(scenario.ActionPhases())
			return
		}
		phases := append(scenario.PhasesOf(phase.Backup), phase.FailedPreRestoreActions.String())
		if of != "Point" && field == "phase" {
			phases = append(phases, scenario.Deleted)
		}
		s.Enum = enum(phases)
	case "object", "delete", "describe":
		if of == "Write" {
			s.Pattern = `^[a-z]+(/[^/]+){1,2}$`
			return
		}
		s.Pattern = object
	case "remove":
		s.Pattern = strings.Replace(object, "|restore", "", 1)
	case "items", "additionalItems", "itemsToUpdate", "updated":
		s.Pattern = `^[a-z]+/[^/]+/[^/]+$`
	case "cancelled", "plugin":
		s.Pattern = `^[^/]+/[^/]+$`
	case "reports":
		s.Pattern = scenario.Reports
	case "id", "strikes", "includedNamespaces":
		named(63)
	case "backup":
		named(63)
	case "name":
		switch of {
		case "Plugin":
			s.Pattern = `^[^/]+/[^/]+$`
		case "Schedule":
			named(scenario.MaxScheduleName)
		default:
			named(63)
		}
	}
}

// reasons for which a write may be refused, whatever its verb.
func reasons() []string {
	var all []string
	for _, verb := range scenario.WriteVerbs() {
		all = append(all, scenario.Reasons(verb)...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func enum(values []string) []any {
	all := make([]any, len(values))
	for i, v := range values {
		all[i] = v
	}
	return all
}
