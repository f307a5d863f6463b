package model

import "github.com/velosim/velosim/sim/scenario"

// grow takes in that the plugin makes the items that it is called for too large for another request: surely, if it is not struck.
func (c *casting) grow(called []scenario.Item, sure bool) {
	for _, item := range called {
		if sure && c.items[item] == surely {
			c.large[item] = surely
		} else if _, ok := c.large[item]; !ok {
			c.large[item] = maybe
		}
	}
}

// refuse takes in that those items that are too large are refused by the one that is handed them next: a plugin's server, which has no call
// of it then, or a restore's API server. Each is an error of the run, and goes no further.
func (c *casting) refuse(items []scenario.Item) {
	fails := never
	for _, item := range items {
		large, ok := c.large[item]
		if !ok || c.items[item] == never {
			continue
		}
		if large == surely && c.items[item] == surely && !c.tangled {
			fails, c.items[item] = surely, never
			continue
		}
		fails, c.items[item] = min(fails, maybe), maybe
	}
	if fails == never {
		return
	}
	casts := c.casts
	if fails == surely {
		c.casts = nil
	}
	for _, cast := range casts {
		cast.fails = true
		c.add(cast)
	}
}
