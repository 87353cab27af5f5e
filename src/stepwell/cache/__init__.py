"""Results of nodes that may be used again for an equal input."""
