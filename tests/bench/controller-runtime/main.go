// SPDX-License-Identifier: Apache-2.0

// The contract of TeamSpaces as an operator on controller-runtime: watches, a cache of all objects, a work queue with
// 8 workers, and no limit on the rate of its requests. It is what `make bench` holds cnpa-op against; it serves nobody.
//
//	KUBECONFIG=FILE operator ARCHIVE-FOLDER
package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/go-logr/logr/funcr"
)

const workers = 8

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: operator ARCHIVE-FOLDER")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "operator:", err)
		os.Exit(1)
	}
}

func run(archive string) error {
	log.SetLogger(funcr.New(func(prefix, args string) { fmt.Fprintln(os.Stderr, prefix, args) }, funcr.Options{}))
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, addToScheme} {
		if err := add(scheme); err != nil {
			return err
		}
	}
	config, err := ctrl.GetConfig()
	if err != nil {
		return err
	}
	config.QPS = -1
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:  scheme,
		Metrics: server.Options{BindAddress: "0"},
		Cache: cache.Options{ByObject: map[client.Object]cache.ByObject{
			&corev1.ResourceQuota{}: {Field: fields.OneTermEqualSelector("metadata.name", quotaName)},
		}},
	})
	if err != nil {
		return err
	}
	byNamespace := handler.EnqueueRequestsFromMapFunc(func(_ context.Context, object client.Object) []reconcile.Request {
		name := object.GetNamespace()
		if name == "" {
			name = object.GetName()
		}
		team, ours := strings.CutPrefix(name, prefix)
		if !ours {
			return nil
		}
		return []reconcile.Request{{NamespacedName: types.NamespacedName{Name: team}}}
	})
	err = ctrl.NewControllerManagedBy(manager).
		For(&TeamSpace{}).
		Watches(&corev1.Namespace{}, byNamespace).
		Watches(&corev1.ResourceQuota{}, byNamespace).
		WithOptions(controller.Options{MaxConcurrentReconciles: workers}).
		Complete(&Reconciler{Client: manager.GetClient(), archive: archive})
	if err != nil {
		return err
	}
	return manager.Start(ctrl.SetupSignalHandler())
}
