package apiserver_test

import (
	"context"
	"fmt"

	"github.com/velosim/velosim/sim/velero/apiserver"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

func Example() {
	server, err := apiserver.New(apiserver.Options{})
	if err != nil {
		panic(err)
	}
	server.OnWrite(func(w apiserver.Write) { fmt.Println(w.Verb, w.Resource, w.Name, w.Err) })
	clients := kubernetes.NewForConfigOrDie(&rest.Config{
		Host:          "http://apiserver",
		Transport:     server.Transport(nil),
		QPS:           -1,
		ContentConfig: rest.ContentConfig{ContentType: "application/json", AcceptContentTypes: "application/json"},
	})
	app := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "app"}}
	for range 2 {
		app, err = clients.CoreV1().Namespaces().Create(context.Background(), app, metav1.CreateOptions{})
		fmt.Println(err)
		app = &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "app"}}
	}
	// Output:
	// create namespaces app <nil>
	// <nil>
	// create namespaces app namespaces "app" already exists
	// namespaces "app" already exists
}
