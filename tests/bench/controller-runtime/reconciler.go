// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

const (
	finalizer = "platform.labhub.io/cleanup"
	label     = "platform.labhub.io/teamspace"
	quotaName = "team-quota"
	prefix    = "team-"
)

// Reconciler brings one TeamSpace to its desired state, reading from the manager's cache.
type Reconciler struct {
	client.Client
	archive string
}

func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	team := &TeamSpace{}
	if err := r.Get(ctx, request.NamespacedName, team); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !team.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, r.release(ctx, team)
	}
	for _, step := range []func(context.Context, *TeamSpace) error{
		r.ensureFinalizer, r.ensureNamespace, r.ensureQuota, r.ensureStatus,
	} {
		if err := step(ctx, team); err != nil {
			if apierrors.IsAlreadyExists(err) || apierrors.IsConflict(err) {
				return ctrl.Result{}, nil // the cache was behind; its next event comes
			}
			return ctrl.Result{}, err
		}
	}
	return ctrl.Result{}, nil
}

func (r *Reconciler) ensureFinalizer(ctx context.Context, team *TeamSpace) error {
	before := team.DeepCopyObject().(*TeamSpace)
	if !controllerutil.AddFinalizer(team, finalizer) {
		return nil
	}
	return r.Patch(ctx, team, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
}

func (r *Reconciler) ensureNamespace(ctx context.Context, team *TeamSpace) error {
	owner := metav1.OwnerReference{
		APIVersion: groupVersion.String(), Kind: "TeamSpace", Name: team.Name, UID: team.UID,
	}
	space := &corev1.Namespace{}
	err := r.Get(ctx, client.ObjectKey{Name: prefix + team.Name}, space)
	if apierrors.IsNotFound(err) {
		return r.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
			Name:            prefix + team.Name,
			Labels:          map[string]string{label: team.Name},
			OwnerReferences: []metav1.OwnerReference{owner},
		}})
	}
	if err != nil {
		return err
	}
	owned := false
	for _, each := range space.OwnerReferences {
		owned = owned || each.UID == team.UID
	}
	if owned && space.Labels[label] == team.Name {
		return nil
	}
	if !owned && space.Labels[label] != team.Name {
		return fmt.Errorf("namespace %s is not ours", space.Name)
	}
	if !space.DeletionTimestamp.IsZero() {
		return fmt.Errorf("namespace %s is terminating", space.Name)
	}
	before := space.DeepCopy()
	if space.Labels == nil {
		space.Labels = map[string]string{}
	}
	space.Labels[label] = team.Name
	if !owned {
		space.OwnerReferences = append(space.OwnerReferences, owner)
	}
	return r.Patch(ctx, space, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
}

func (r *Reconciler) ensureQuota(ctx context.Context, team *TeamSpace) error {
	cpu, err := resource.ParseQuantity(team.Spec.CPU)
	if err != nil {
		return fmt.Errorf("spec.cpu %q: %w", team.Spec.CPU, err)
	}
	hard := corev1.ResourceList{
		corev1.ResourcePods:        *resource.NewQuantity(team.Spec.Pods, resource.DecimalSI),
		corev1.ResourceRequestsCPU: cpu,
	}
	quota := &corev1.ResourceQuota{}
	err = r.Get(ctx, client.ObjectKey{Namespace: prefix + team.Name, Name: quotaName}, quota)
	if apierrors.IsNotFound(err) {
		return r.Create(ctx, &corev1.ResourceQuota{
			ObjectMeta: metav1.ObjectMeta{Namespace: prefix + team.Name, Name: quotaName},
			Spec:       corev1.ResourceQuotaSpec{Hard: hard},
		})
	}
	if err != nil || sameAmounts(quota.Spec.Hard, hard) {
		return err
	}
	before := quota.DeepCopy()
	quota.Spec.Hard = hard
	return r.Patch(ctx, quota, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
}

func sameAmounts(left, right corev1.ResourceList) bool {
	if len(left) != len(right) {
		return false
	}
	for name, amount := range left {
		other, there := right[name]
		if !there || amount.Cmp(other) != 0 {
			return false
		}
	}
	return true
}

func (r *Reconciler) ensureStatus(ctx context.Context, team *TeamSpace) error {
	before := team.DeepCopyObject().(*TeamSpace)
	team.Status.ObservedGeneration = team.Generation
	team.Status.Namespace = prefix + team.Name
	meta.SetStatusCondition(&team.Status.Conditions, metav1.Condition{
		Type: "Ready", Status: metav1.ConditionTrue, Reason: "Reconciled", ObservedGeneration: team.Generation,
		Message: "namespace " + team.Status.Namespace + " and its quota are as specified",
	})
	if reflect.DeepEqual(before.Status, team.Status) {
		return nil
	}
	return r.Status().Patch(ctx, team, client.MergeFrom(before))
}

// release archives a TeamSpace that is being deleted, then takes the finalizer off.
func (r *Reconciler) release(ctx context.Context, team *TeamSpace) error {
	before := team.DeepCopyObject().(*TeamSpace)
	if !controllerutil.RemoveFinalizer(team, finalizer) {
		return nil
	}
	text, err := json.Marshal(map[string]any{"name": team.Name, "uid": team.UID, "pods": team.Spec.Pods})
	if err != nil {
		return err
	}
	if err := writeDurably(filepath.Join(r.archive, team.Name+".json"), text); err != nil {
		return err
	}
	return client.IgnoreNotFound(
		r.Patch(ctx, team, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})))
}

func writeDurably(path string, text []byte) error {
	file, err := os.CreateTemp(filepath.Dir(path), ".archive-")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name()) // no effect once it has its own name
	defer file.Close()
	if _, err := file.Write(text); err != nil {
		return err
	}
	if err := file.Sync(); err != nil {
		return err
	}
	if err := os.Rename(file.Name(), path); err != nil {
		return err
	}
	folder, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer folder.Close()
	return folder.Sync()
}
