// Mover is a plugin of item actions, for backups and restores, that starts an asynchronous operation of two seconds for each config map and
// keeps the contract of such operations. See README.md.
package main

import (
	"fmt"
	"os"
	"time"

	"github.com/sirupsen/logrus"
	"github.com/spf13/pflag"
	"github.com/vmware-tanzu/velero/pkg/plugin/framework"
	"github.com/vmware-tanzu/velero/pkg/plugin/framework/common"
)

const name = "example.io/mover"

func main() {
	framework.NewServer().BindFlags(pflag.CommandLine).
		RegisterBackupItemActionV2(name, with(func(m mover) any { return backupAction{m} })).
		RegisterRestoreItemActionV2(name, with(func(m mover) any { return restoreAction{m} })).
		Serve()
}

// with makes an action when Velero first calls it in a process. What fails here fails that call; a plugin that exits at start would keep
// Velero's server from starting.
func with(action func(mover) any) common.HandlerInitializer {
	return func(logrus.FieldLogger) (any, error) {
		now, err := clock(os.Getenv("VELOSIM_TIME"))
		if err != nil {
			return nil, err
		}
		store, err := openStore(os.Getenv("MOVER_STATE"), os.Getenv("VELERO_NAMESPACE"))
		return action(mover{store, now}), err
	}
}

// clock is the time of day, unless a time is given, at which it stands: so a simulation gives each process its virtual time.
func clock(fixed string) (func() time.Time, error) {
	if fixed == "" {
		return time.Now, nil
	}
	t, err := time.Parse(time.RFC3339Nano, fixed)
	if err != nil {
		return nil, fmt.Errorf("VELOSIM_TIME is %q: give it as 2026-01-31T12:00:00.5Z, or not at all", fixed)
	}
	return func() time.Time { return t }, nil
}
