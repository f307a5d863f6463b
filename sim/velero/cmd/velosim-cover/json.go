package main

import (
	"encoding/json"
	"os"
	"path/filepath"
)

// release of Velero that is measured: that of unit-1.18.3.txt.
const release = "1.18.3"

// code is what reports.Code reads.
type code struct {
	Release     string           `json:"release"`
	Seeds       int              `json:"seeds"`
	Controllers []controllerCode `json:"controllers"`
}

type controllerCode struct {
	Name       string `json:"name"`
	Statements int    `json:"statements"`
	Reached    int    `json:"reached"`
	Unit       int    `json:"unit"`
}

// writeJSON writes the coverage of each controller; an empty path is none.
func writeJSON(path string, seeds int, controllers []controller) error {
	if path == "" {
		return nil
	}
	measured := code{Release: release, Seeds: seeds, Controllers: []controllerCode{}}
	for _, c := range controllers {
		of := controllerCode{Name: c.name}
		for _, f := range c.functions {
			of.Statements, of.Reached, of.Unit = of.Statements+f.statements, of.Reached+f.reached, of.Unit+f.unit
		}
		measured.Controllers = append(measured.Controllers, of)
	}
	b, err := json.MarshalIndent(measured, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, append(b, '\n'), 0o644)
}
