// A peer for benchmarks: server-side apply of every object in a file by client-go, with 16 workers and no client-side rate limit.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/clientcmd"
)

const workers = 16

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: apply_loop KUBECONFIG MANIFESTS")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(kubeconfig, manifests string) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	config.QPS = -1
	config.UserAgent = "apply-loop"
	objects, err := read(manifests)
	if err != nil {
		return err
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	groups, err := restmapper.GetAPIGroupResources(discovery.NewDiscoveryClientForConfigOrDie(config))
	if err != nil {
		return err
	}
	mapper := restmapper.NewDiscoveryRESTMapper(groups)

	queue := make(chan *unstructured.Unstructured)
	var failures atomic.Int64
	var wait sync.WaitGroup
	for range workers {
		wait.Add(1)
		go func() {
			defer wait.Done()
			for object := range queue {
				kind := object.GroupVersionKind()
				mapping, err := mapper.RESTMapping(kind.GroupKind(), kind.Version)
				if err == nil {
					_, err = client.Resource(mapping.Resource).Namespace(object.GetNamespace()).Apply(
						context.Background(), object.GetName(), object, metav1.ApplyOptions{FieldManager: "apply-loop", Force: true})
				}
				if err != nil {
					fmt.Fprintln(os.Stderr, err)
					failures.Add(1)
				}
			}
		}()
	}
	for _, object := range objects {
		queue <- object
	}
	close(queue)
	wait.Wait()
	if failures.Load() > 0 {
		return fmt.Errorf("%d objects failed", failures.Load())
	}
	return nil
}

func read(path string) ([]*unstructured.Unstructured, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var objects []*unstructured.Unstructured
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096)
	for {
		object := &unstructured.Unstructured{}
		if err := decoder.Decode(object); errors.Is(err, io.EOF) {
			return objects, nil
		} else if err != nil {
			return nil, err
		}
		if len(object.Object) > 0 {
			objects = append(objects, object)
		}
	}
}
