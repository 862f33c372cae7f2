//! Sizes of cache that a report is about: round ones for a table, evenly spaced ones for a curve.

/// Round sizes within a power of ten, in tenths of it.
const STEPS: [u64; 6] = [10, 15, 20, 30, 50, 70];

/// Round sizes from about `all` bytes / `parts` up to the first that holds all, ascending; empty
/// where there are no bytes.
pub fn round_sizes(all: u128, parts: u32) -> Vec<u64> {
    let (least, all) = (all as f64 / f64::from(parts), all as f64);
    let decades = (0..=19).map(|decade| 10u128.pow(decade));
    let steps = decades.flat_map(|unit| STEPS.map(|step| unit * u128::from(step) / 10));
    let sizes = steps.map_while(|size| u64::try_from(size).ok());
    let mut round: Vec<u64> = Vec::new();
    for size in sizes.filter(|size| *size as f64 >= least) {
        if round.last().is_some_and(|last| *last as f64 >= all) || all == 0.0 {
            break;
        }
        if round.last() != Some(&size) {
            round.push(size);
        }
    }
    round
}

/// Points of a curve in a decade.
const POINTS: i32 = 12;

/// Sizes from which a curve is drawn: evenly spaced in logarithm over the four decades up to
/// `enough` bytes, which is the smallest cache that reaches the ceiling, and on to the first beyond
/// `all` bytes, with which even a cache that admits everything reaches it.
pub fn curve_sizes(enough: u128, all: u128) -> Vec<u64> {
    if enough == 0 {
        return Vec::new();
    }
    let size = |point: i32| enough as f64 * 10f64.powf(f64::from(point) / f64::from(POINTS));
    let end = (0..).find(|point| *point > 1 && size(*point) >= all as f64).expect("sizes grow without bound");
    let mut sizes: Vec<u64> = (-4 * POINTS..=end).map(|point| size(point) as u64).collect();
    sizes.retain(|size| *size > 0);
    sizes.dedup();
    sizes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_sizes_go_from_a_hundredth_to_everything() {
        let tb = |tb: f64| (tb * 1e12) as u64;
        let expected = [0.7, 1.0, 1.5, 2.0, 3.0, 5.0, 7.0, 10.0, 15.0, 20.0, 30.0, 50.0, 70.0].map(tb);
        assert_eq!(round_sizes(51_000_000_000_000, 100), expected);
    }

    #[test]
    fn a_curve_ascends_past_the_cache_that_reaches_the_ceiling_to_all_bytes() {
        for enough in [1, 2, 1_000, 30_300_000_000_000] {
            for all in [enough, 3 * enough, 100_000 * enough] {
                let sizes = curve_sizes(enough, all);
                assert!(sizes.is_sorted_by(|a, b| a < b) && sizes.contains(&(enough as u64)), "{sizes:?}");
                let beyond = sizes.iter().filter(|size| u128::from(**size) >= all).count();
                assert!((1..=3).contains(&beyond) && sizes.len() < 130, "{sizes:?}");
            }
        }
        assert_eq!(curve_sizes(0, 0), [0u64; 0]);
        assert!(curve_sizes(1 << 100, 1 << 101).is_sorted());
    }

    #[test]
    fn tiny_and_huge_corpora_have_round_sizes_too() {
        assert_eq!(round_sizes(0, 100), [0u64; 0]);
        assert_eq!(round_sizes(1, 100), [1]);
        assert_eq!(round_sizes(7, 100), [1, 2, 3, 5, 7]);
        let huge = round_sizes(u128::MAX, 100);
        assert!(huge.is_sorted() && huge.len() < 60, "{huge:?}");
        let eb = |eb: u64| eb * 10u64.pow(18);
        let nine = round_sizes(9_223_372_036_854_775_807, 100);
        assert_eq!(nine[nine.len() - 5..], [2, 3, 5, 7, 10].map(eb));
    }
}
