//! From the sizes that some objects told to one for all objects that do not say theirs.
//!
//! The objects that were asked are those of the lowest hashes: a random sample without replacement,
//! each object as likely as any other, however often it is referenced.

use super::report::ProbedSizes;

/// What `told`, sizes in bytes, ascending, says of `unknown` objects of which `asked` were asked.
///
/// The size for all is the mean of the answers, not the median: what a cache takes is a sum of
/// sizes, and the mean times the number of objects is its unbiased estimate. What is not known is
/// whether objects that recur are larger or smaller than the others. The standard error is
/// s / sqrt(n) · sqrt(1 - n/N) with n answers of N objects (Cochran, Sampling Techniques, 1977,
/// equation 2.20).
pub fn estimate(unknown: u64, asked: u64, told: &[u64]) -> ProbedSizes {
    let answered = told.len() as u64;
    let probed = ProbedSizes { unknown, asked, answered, failed: asked - answered, ..ProbedSizes::default() };
    if told.is_empty() {
        return probed;
    }
    let sum: u128 = told.iter().map(|&size| u128::from(size)).sum();
    let (n, number) = (u128::from(answered), answered as f64);
    let rounded = u64::try_from((sum + n / 2) / n).expect("a mean is no larger than the largest size");
    let standard_error = match answered {
        all if all == unknown => Some(0.0),
        1 => None,
        _ => {
            let mean = sum as f64 / number;
            let squares: f64 = told.iter().map(|&size| (size as f64 - mean).powi(2)).sum();
            let variance = squares / (number - 1.0);
            Some((variance / number * (1.0 - number / unknown as f64)).sqrt())
        }
    };
    ProbedSizes { mean: Some(rounded), standard_error, ..probed }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_is_rounded_and_its_error_is_as_calculated_by_hand() {
        // Deviations -40, -20, 60: the variance is 5600 / 2; three of twelve are known.
        let probed = estimate(12, 4, &[10, 30, 110]);
        assert_eq!((probed.asked, probed.answered, probed.failed, probed.mean), (4, 3, 1, Some(50)));
        let error = probed.standard_error.unwrap();
        assert!((error - (2800.0f64 / 3.0 * 0.75).sqrt()).abs() < 1e-9, "{error}");
        assert_eq!(estimate(9, 2, &[1, 2]).mean, Some(2));
        assert_eq!(estimate(9, 3, &[1, 1, 2]).mean, Some(1));
        assert_eq!(estimate(9, 2, &[u64::MAX; 2]).mean, Some(u64::MAX));
    }

    #[test]
    fn of_all_objects_the_mean_has_no_error_and_of_one_answer_it_is_not_known() {
        assert_eq!(estimate(2, 2, &[5, 500]).standard_error, Some(0.0));
        assert_eq!(estimate(1, 1, &[5]).standard_error, Some(0.0));
        assert_eq!(estimate(2, 2, &[5]).standard_error, None);
    }

    #[test]
    fn without_an_answer_there_is_no_mean() {
        for (unknown, asked) in [(0, 0), (9, 3)] {
            let probed = estimate(unknown, asked, &[]);
            assert_eq!((probed.failed, probed.mean, probed.standard_error), (asked, None, None));
        }
    }
}
