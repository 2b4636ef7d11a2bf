"""Who we are to a server, and which server is meant: kubeconfigs, pods, and all the ways to log in and stay logged in."""
