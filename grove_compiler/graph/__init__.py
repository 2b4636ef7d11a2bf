"""The result's vocabulary: diagnostics, nodes, edges and levels."""
