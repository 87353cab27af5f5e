"""The browser of threads that `stepwell` opens on a terminal. The only room that knows textual, an extra."""
