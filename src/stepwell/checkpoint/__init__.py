"""The chain of checkpoints: what a saver keeps of a thread, and how it finds it again."""
