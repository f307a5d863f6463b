package seeded

// edit replaces what a file of Go's source has exactly once.
type edit struct{ file, old, new string }

// edits of Go 1.26.
//
// What has no state needs none: the hashes of maps are the same in every process, and all iterations of a run begin at the
// same place, which is the bubble's. So nothing that happened before, such as a garbage collection that emptied a
// sync.Pool, or an earlier run, moves them. Goroutines of a bubble have two counters: seed, for what is drawn by math/rand,
// for names of temporary files, and for the goroutines that they start; and turn, for select. 0: not in a bubble.
func edits() []edit {
	return []edit{
		{"runtime/runtime2.go", "\tbubble  *synctestBubble\n", "\tbubble  *synctestBubble\n\tseed    uint64\n\tturn    uint64\n"},
		{"runtime/proc.go", "\tnewg.runningCleanups.Store(false)\n", "\tnewg.runningCleanups.Store(false)\n\tnewg.seed, newg.turn = 0, 0\n"},
		{"runtime/proc.go", "\t\tnewg.bubble = callergp.bubble\n", "\t\tnewg.bubble = callergp.bubble\n\t\tnewg.seed, newg.turn = callergp.seedsOfChild()\n"},

		// Compiled code and package maps call rand for the seeds of maps.
		{"runtime/rand.go", "//go:linkname rand\nfunc rand() uint64 {\n", "//go:linkname rand\nfunc rand() uint64 { return 0x9e3779b97f4a7c15 }\n\n" + seeds +
			"//go:nosplit\n//go:linkname draw\nfunc draw() uint64 {\n\tif gp := getg(); gp.seed != 0 {\n\t\treturn next(&gp.seed)\n\t}\n"},
		{"runtime/rand.go", "\tmp.cheaprand = rand()\n", "\tmp.cheaprand = draw()\n"},
		{"runtime/rand.go", "uint64(uint32(rand()))", "uint64(uint32(draw()))"},
		{"runtime/rand.go", "func legacy_fastrand() uint32 {\n\treturn uint32(rand())\n", "func legacy_fastrand() uint32 {\n\treturn uint32(draw())\n"},
		{"runtime/rand.go", "func legacy_fastrand64() uint64 {\n\treturn rand()\n", "func legacy_fastrand64() uint64 {\n\treturn draw()\n"},
		{"math/rand/rand.go", "//go:linkname runtime_rand runtime.rand\n", "//go:linkname runtime_rand runtime.draw\n"},
		{"math/rand/v2/rand.go", "//go:linkname runtime_rand runtime.rand\n", "//go:linkname runtime_rand runtime.draw\n"},
		{"os/tempfile.go", "//go:linkname runtime_rand runtime.rand\n", "//go:linkname runtime_rand runtime.draw\n"},
		{"net/dnsclient.go", "//go:linkname runtime_rand runtime.rand\n", "//go:linkname runtime_rand runtime.draw\n"},

		{"internal/runtime/maps/table.go", "\tit.entryOffset = rand()\n\tit.dirOffset = rand()\n", "\tit.entryOffset = offset()\n\tit.dirOffset = it.entryOffset >> 32\n"},
		{"internal/runtime/maps/runtime.go", "//go:linkname rand\nfunc rand() uint64\n", "//go:linkname rand\nfunc rand() uint64\n\n//go:linkname offset\nfunc offset() uint64\n"},
		{"runtime/select.go", "\t\tj := cheaprandn(uint32(norder + 1))\n", `		var j uint32
		if gp.turn != 0 {
			j = uint32(next(&gp.turn)>>32) % uint32(norder+1)
		} else {
			j = cheaprandn(uint32(norder + 1))
		}
`},
		// A goroutine of a bubble keeps its processor for a second: in a system call, too, or others would run that were not to yet.
		{"runtime/proc.go", "\t\tpd := &pp.sysmontick\n\t\tsysretake := false\n", `		pd := &pp.sysmontick
		if mp := pp.m.ptr(); mp != nil && mp.curg != nil && mp.curg.bubble != nil {
			if pd.schedtick != pp.schedtick {
				pd.schedtick, pd.schedwhen = pp.schedtick, now
				continue
			}
			if pd.schedwhen+1000*1000*1000 > now {
				continue
			}
		}
		sysretake := false
`},
		// Timers of one instant go off in the order in which they were set, or near it.
		{"runtime/time.go", "\t\t\tt.rand = cheaprand()\n", "\t\t\tt.rand = 0\n"},
		{"runtime/alg.go", "\t\tkey[i] = bootstrapRand()\n", "\t\tkey[i] = (uint64(i) + 1) * 0x9e3779b97f4a7c15\n"},
		{"runtime/alg.go", "\t\thashkey[i] = uintptr(bootstrapRand())\n", "\t\thashkey[i] = (uintptr(i) + 1) * 0x9e3779b9\n"},
	}
}

// seeds is splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014).
const seeds = `// bubbleSeed is the seed of a bubble's first goroutine. Not 0.
//
//go:linkname bubbleSeed
var bubbleSeed uint64 = 1

//go:nosplit
func next(state *uint64) uint64 {
	*state += 0x9e3779b97f4a7c15
	if *state == 0 {
		*state = 1
	}
	z := *state
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb
	return z ^ (z >> 31)
}

// maps_offset is where an iteration begins.
//
//go:linkname maps_offset internal/runtime/maps.offset
func maps_offset() uint64 {
	if getg().bubble == nil {
		return draw()
	}
	seed := bubbleSeed
	return next(&seed)
}

func (gp *g) seedsOfChild() (seed, turn uint64) {
	if gp.bubble == nil {
		return 0, 0
	}
	state := &gp.seed
	if gp.seed == 0 {
		first := bubbleSeed
		state = &first
	}
	return next(state) | 1, next(state) | 1
}

`
