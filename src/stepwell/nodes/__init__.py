"""What a node's callable is, how it is called, and what its return writes."""
