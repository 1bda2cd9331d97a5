// SPDX-License-Identifier: Apache-2.0

package main

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var groupVersion = schema.GroupVersion{Group: "platform.labhub.io", Version: "v1alpha1"}

type TeamSpaceSpec struct {
	Pods int64  `json:"pods"`
	CPU  string `json:"cpu,omitempty"`
}

type TeamSpaceStatus struct {
	ObservedGeneration int64              `json:"observedGeneration,omitempty"`
	Namespace          string             `json:"namespace,omitempty"`
	Conditions         []metav1.Condition `json:"conditions,omitempty"`
}

type TeamSpace struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   TeamSpaceSpec   `json:"spec"`
	Status TeamSpaceStatus `json:"status,omitempty"`
}

type TeamSpaceList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []TeamSpace `json:"items"`
}

func (in *TeamSpace) copyInto(out *TeamSpace) {
	*out = *in
	in.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	out.Status.Conditions = nil
	for i := range in.Status.Conditions {
		out.Status.Conditions = append(out.Status.Conditions, *in.Status.Conditions[i].DeepCopy())
	}
}

func (in *TeamSpace) DeepCopyObject() runtime.Object {
	out := &TeamSpace{}
	in.copyInto(out)
	return out
}

func (in *TeamSpaceList) DeepCopyObject() runtime.Object {
	out := &TeamSpaceList{TypeMeta: in.TypeMeta}
	in.ListMeta.DeepCopyInto(&out.ListMeta)
	out.Items = make([]TeamSpace, len(in.Items))
	for i := range in.Items {
		in.Items[i].copyInto(&out.Items[i])
	}
	return out
}

func addToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(groupVersion, &TeamSpace{}, &TeamSpaceList{})
	metav1.AddToGroupVersion(scheme, groupVersion)
	return nil
}
