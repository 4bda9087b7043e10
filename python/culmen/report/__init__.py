"""What is made of a store: figures, exports, the report."""
