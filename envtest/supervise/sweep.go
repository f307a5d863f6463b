package supervise

import (
	"fmt"
	"path/filepath"
)

// Sweep removes a folder that is there, with all that is in it, when the owner dies, in whatever way, or Kill is called. It has no
// program. What other supervisors of the owner hold in the folder, it waits for, up to 10 s.
func Sweep(folder string) (*Process, error) {
	if err := possible(); err != nil {
		return nil, err
	}
	folder, err := filepath.Abs(folder)
	if err != nil {
		return nil, fmt.Errorf("supervise: %w", err)
	}
	return begin("sweep", order{Dir: "/", Sweep: folder}, nil, nil)
}
