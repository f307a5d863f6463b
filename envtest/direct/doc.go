// Package direct calls the item actions of a plugin executable directly, without a server, as sim/plugintest/exercise lists it: what a
// server would only do in a run of its own for each. It runs in a process of its own, which has a cluster by KUBECONFIG, and with which all
// ends that the plugin has started.
//
// It imports fakeplugins and Velero's plugin framework, and judges nothing: sim/plugintest/contract does.
package direct
