"""What exists: a PodCliqueSet as declared, and everything that follows from it. No Kubernetes shapes beyond the user's own."""
