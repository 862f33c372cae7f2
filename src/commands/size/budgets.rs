//! Which sizes of cache a report is about, when nobody says.

/// Steps of the ladder within a power of ten.
const STEPS: [u64; 6] = [10, 15, 20, 30, 50, 70];

/// Round sizes from about a hundredth of `all` bytes up to the first that holds them, ascending;
/// empty when there are no bytes.
pub fn ladder(all: u128) -> Vec<u64> {
    let (least, all) = (all as f64 / 100.0, all as f64);
    let decades = (0..=19).map(|decade| 10u128.pow(decade));
    let steps = decades.flat_map(|unit| STEPS.map(|step| unit * u128::from(step) / 10));
    let sizes = steps.map_while(|size| u64::try_from(size).ok());
    let mut ladder: Vec<u64> = Vec::new();
    for size in sizes.filter(|size| *size as f64 >= least) {
        if ladder.last().is_some_and(|last| *last as f64 >= all) || all == 0.0 {
            break;
        }
        if ladder.last() != Some(&size) {
            ladder.push(size);
        }
    }
    ladder
}

/// Points of a curve.
const POINTS: u32 = 48;

/// Sizes from which a curve is drawn: evenly spaced in logarithm over the four decades up to
/// `enough` bytes, which is the smallest cache that reaches the ceiling, and one beyond.
pub fn curve(enough: u128) -> Vec<u64> {
    if enough == 0 {
        return Vec::new();
    }
    let ratio = |point: u32| 10f64.powf(4.0 * (f64::from(point) / f64::from(POINTS) - 1.0));
    let mut sizes: Vec<u64> = (0..POINTS).map(|point| (enough as f64 * ratio(point)) as u64).collect();
    sizes.extend([enough as u64, (enough as f64 * 1.5) as u64]);
    sizes.retain(|size| *size > 0);
    sizes.dedup();
    sizes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ladder_goes_from_a_hundredth_to_everything_in_round_steps() {
        let tb = |tb: f64| (tb * 1e12) as u64;
        let expected = [0.7, 1.0, 1.5, 2.0, 3.0, 5.0, 7.0, 10.0, 15.0, 20.0, 30.0, 50.0, 70.0].map(tb);
        assert_eq!(ladder(51_000_000_000_000), expected);
    }

    #[test]
    fn a_curve_ascends_past_the_smallest_cache_that_reaches_the_ceiling() {
        for enough in [1, 2, 1_000, 30_300_000_000_000] {
            let sizes = curve(enough);
            assert!(sizes.is_sorted_by(|a, b| a < b) && sizes.contains(&(enough as u64)), "{sizes:?}");
        }
        assert_eq!(curve(0), [0u64; 0]);
    }

    #[test]
    fn tiny_and_huge_corpora_have_ladders_too() {
        assert_eq!(ladder(0), [0u64; 0]);
        assert_eq!(ladder(1), [1]);
        assert_eq!(ladder(7), [1, 2, 3, 5, 7]);
        let huge = ladder(u128::MAX);
        assert!(huge.is_sorted() && huge.len() < 60, "{huge:?}");
        let eb = |eb: u64| eb * 10u64.pow(18);
        let nine = ladder(9_223_372_036_854_775_807);
        assert_eq!(nine[nine.len() - 5..], [2, 3, 5, 7, 10].map(eb));
    }
}
