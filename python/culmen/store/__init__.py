"""What a store holds: opening it, its evaluations as arrays, in what two of them differ."""
