package seeded

// edit replaces what a file of package runtime has exactly once.
type edit struct{ file, old, new string }

// edits of Go 1.26. A goroutine's seed is g.seed; 0: it has none, and draws as ever.
func edits() []edit {
	return []edit{
		{"runtime2.go", "\tbubble  *synctestBubble\n", "\tbubble  *synctestBubble\n\tseed    uint64\n"},
		{"proc.go", "\tnewg.runningCleanups.Store(false)\n", "\tnewg.runningCleanups.Store(false)\n\tnewg.seed = 0\n"},
		{"proc.go", "\t\tnewg.bubble = callergp.bubble\n", "\t\tnewg.bubble = callergp.bubble\n\t\tnewg.seed = callergp.seedOfChild()\n"},
		{"rand.go", "func rand() uint64 {\n", "func rand() uint64 {\n\tif gp := getg(); gp.seed != 0 {\n\t\treturn gp.draw()\n\t}\n"},
		{"rand.go", "//go:linkname maps_rand ", draw + "\n//go:linkname maps_rand "},
		{"select.go", "\t\tj := cheaprandn(uint32(norder + 1))\n", `		var j uint32
		if gp.seed != 0 {
			j = uint32(gp.draw()>>32) % uint32(norder+1)
		} else {
			j = cheaprandn(uint32(norder + 1))
		}
`},
		// Hashes of strings, too, must be the same in every process.
		{"alg.go", "\t\tkey[i] = bootstrapRand()\n", "\t\tkey[i] = (uint64(i) + 1) * 0x9e3779b97f4a7c15\n"},
		{"alg.go", "\t\thashkey[i] = uintptr(bootstrapRand())\n", "\t\thashkey[i] = (uintptr(i) + 1) * 0x9e3779b9\n"},
	}
}

// draw is splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014).
const draw = `// bubbleSeed is the seed of a bubble's first goroutine. Not 0.
//
//go:linkname bubbleSeed
var bubbleSeed uint64 = 1

//go:nosplit
func (gp *g) draw() uint64 {
	gp.seed += 0x9e3779b97f4a7c15
	if gp.seed == 0 {
		gp.seed = 1
	}
	z := gp.seed
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb
	return z ^ (z >> 31)
}

func (gp *g) seedOfChild() uint64 {
	switch {
	case gp.bubble == nil:
		return 0
	case gp.seed == 0:
		return bubbleSeed
	}
	return gp.draw() | 1
}
`
