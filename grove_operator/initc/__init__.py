"""The init container of the start-up order: a pod's containers start once the pods of the cliques before it are ready."""
