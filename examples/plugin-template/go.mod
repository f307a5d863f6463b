module example.com/my-plugin

go 1.26

require (
	github.com/sirupsen/logrus v1.9.4
	github.com/spf13/pflag v1.0.10
	github.com/velosim/velosim v0.1.0
	github.com/vmware-tanzu/velero v1.18.3
	k8s.io/apimachinery v0.33.13
)
