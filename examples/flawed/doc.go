// Package flawed has plugins with planted faults, which the contract suite finds: see README.md. The package itself is empty.
package flawed
