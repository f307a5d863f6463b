package virtual

// Seeded tells whether the test is built with a Go runtime whose chance follows a seed.
var Seeded = bubbleSeed != 0
