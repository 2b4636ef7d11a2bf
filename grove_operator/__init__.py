"""The program around the compiler: files, caches, the command line."""
