package plan

import (
	"fmt"
	"hash/fnv"
	"strings"
)

// maxName is how long a scenario's name may be: it is a DNS label.
const maxName = 63

// named is the name of a plan. Of a scenario's name that leaves too little room, the end is given up for a hash of it.
func named(scenario, fault string) string {
	if room := maxName - len("--") - len(fault); len(scenario) > room {
		h := fnv.New32a()
		h.Write([]byte(scenario)) //nolint:errcheck // it never fails
		scenario = fmt.Sprintf("%s-%04x", strings.TrimRight(scenario[:max(room-5, 0)], "-"), h.Sum32()&0xffff)
	}
	return scenario + "--" + fault
}

// short is the phase in the names of plans: waiting-partially-failed, failed-pre.
func short(phase string) string {
	phase = strings.NewReplacer("WaitingForPluginOperations", "Waiting", "FailedPreBackupActions", "FailedPre", "FailedPreRestoreActions", "FailedPre").Replace(phase)
	var b strings.Builder
	for i, r := range phase {
		if i > 0 && 'A' <= r && r <= 'Z' {
			b.WriteByte('-')
		}
		b.WriteRune(r)
	}
	return strings.ToLower(b.String())
}

// base is the last part of a name, as a DNS label may have it.
func base(name string) string {
	name = name[strings.LastIndex(name, "/")+1:]
	return strings.Trim(strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' || '0' <= r && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(name)), "-")
}

func kindOf(object string) string {
	kind, _, _ := strings.Cut(object, "/")
	return kind
}

// inflected is the verb as a sentence has it: patches.
func inflected(verb string) string {
	switch verb {
	case "exists":
		return "asks for the existence of"
	case "patch":
		return "patches"
	}
	return verb + "s"
}
