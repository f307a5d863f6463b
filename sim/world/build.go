package world

import "runtime/debug"

// sources is the key of the sources that a world's executable was built from. The linker sets it: see package executable.
var sources string

// identify adds to what a world says of its build the sources of its executable: their key, else their revision.
func identify(build string) string {
	if sources != "" {
		return join("sources "+sources, build)
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return build
	}
	revision, modified := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			revision = "revision " + s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			modified = " modified"
		}
	}
	if revision == "" {
		return build
	}
	return join(revision+modified, build)
}

func join(sources, build string) string {
	if build == "" {
		return sources
	}
	return sources + ", " + build
}
