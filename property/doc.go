// Package property draws scenarios.
package property
