"""Pictures of a compiled graph: for a terminal, Mermaid, Graphviz, programs, and a browser. One file a format."""
