"""Models a PodCliqueSet as declared, and everything that follows from it. Knows no shapes of generated manifests."""
