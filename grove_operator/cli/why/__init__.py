"""`grove why`: what an object waits for."""
