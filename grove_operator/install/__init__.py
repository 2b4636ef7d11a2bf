"""What an installation of the operator consists of, as manifests."""
