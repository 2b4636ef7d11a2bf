"""What is accepted, what is rejected, and in which words."""
