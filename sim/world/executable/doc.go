// Package executable finds the executable of a world, or builds it.
//
// The world "virtual" is velosim-virtual, of the nested module sim/velero. [Finder.Find] looks
//
//  1. in the folder that the environment variable VELOSIM_WORLD_DIR names: only there, if it is set;
//  2. inside a checkout of the repository, in the user's cache, where the entry's key is made of the Go version, the
//     platform, and the modules and sources of the executable; and builds it if it is not there. Nothing else will do
//     in a checkout: an executable of other sources would answer for ones that were never run;
//  3. beside velosim's own executable;
//  4. in the user's cache, the entry used last, whatever checkout it was built from; a line says which one.
//
// A cold build takes minutes, so it shows its progress; one that is interrupted goes on where it stopped, as Go caches
// what it has compiled. The executable tells the key of its sources as its build, and is built with a Go runtime whose chance follows a seed
// (package seeded). Several processes may call Find at once: one builds, the others wait for it.
//
//	finder, err := executable.FromEnvironment(os.Stderr, true)
//	if err != nil { … }
//	path, err := finder.Find(ctx, "virtual")
//
// It imports its own package seeded, and nothing else of ours.
package executable
