"""What an installation of the operator consists of."""
