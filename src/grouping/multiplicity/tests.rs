//! Counting against the naive model: a map from objects to counts.
