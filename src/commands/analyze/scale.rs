//! From the counts of a sample to those of the whole corpus.

/// `n`, times the number of objects that each counted one stands for. Exact where that is 1.
pub fn scaled(n: u128, scale: f64) -> u64 {
    if scale == 1.0 { u64::try_from(n).unwrap_or(u64::MAX) } else { (n as f64 * scale).round() as u64 }
}
