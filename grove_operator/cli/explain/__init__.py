"""`grove explain`: what it is asked about, and its answers as text and as JSON."""
