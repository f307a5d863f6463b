package proxy

// NewRequest is newRequest.
var NewRequest = newRequest

// Answered is how many answers to writes to an object wait for their turn.
func Answered(p *Proxy, key string) int {
	p.writes.mu.Lock()
	defer p.writes.mu.Unlock()
	x := p.writes.objects[key]
	if x == nil {
		return 0
	}
	return len(x.answered)
}

// Underway is how many objects have writes under way.
func Underway(p *Proxy) int {
	p.writes.mu.Lock()
	defer p.writes.mu.Unlock()
	return len(p.writes.objects)
}

// Impatient has no answer wait for those to earlier writes.
func Impatient(p *Proxy) { p.writes.patience = 0 }
