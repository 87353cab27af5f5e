"""Long-term memory: items under (namespace, key), shared by all threads of a graph."""
