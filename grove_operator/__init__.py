"""The program in the cluster: the loop, its webhooks, what it installs, and the containers that it adds to pods."""
