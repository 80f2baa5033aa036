// Controlplane is the API server, the controllers and the scheduler of Kubernetes in one program,
// by the name that it is started with, for the tests of package main two folders up. It is a module
// of its own, so that none of it is a dependency of gpc-tune.
package main

import (
	"os"
	"path/filepath"

	"k8s.io/component-base/cli"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllers "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
)

func main() {
	switch filepath.Base(os.Args[0]) {
	case "kube-controller-manager":
		os.Exit(cli.Run(controllers.NewControllerManagerCommand()))
	case "kube-scheduler":
		os.Exit(cli.Run(scheduler.NewSchedulerCommand()))
	default:
		os.Exit(cli.Run(apiserver.NewAPIServerCommand()))
	}
}
