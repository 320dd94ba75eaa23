"""Tree searches and playouts, compiled for one game at a time, and the evaluations they use."""
