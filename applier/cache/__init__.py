"""What is known of a cluster: read once, or kept up to date by watches."""
