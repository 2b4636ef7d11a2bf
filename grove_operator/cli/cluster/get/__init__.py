"""`grove get`: what is in a cluster, as a tree, once or again and again."""
