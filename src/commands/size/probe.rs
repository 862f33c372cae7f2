//! From the sizes that some objects told to those of all objects that do not say theirs.
//!
//! Those that recur, on which a cache depends, may be icons and the others photographs: each kind has
//! a mean of its own. The objects of a kind that were asked are a random sample of it without
//! replacement, each as likely as any other, however often it is referenced.

use super::report::{MeanSize, ProbedSizes};
use crate::analysis::objects::{Assumed, Objects, Totals};
use crate::commands::analyze::Answer;

/// What the `answers` of `asked` objects say of all objects of unknown size.
///
/// The size for a kind is the mean of its answers, not the median: what a cache takes is a sum of
/// sizes, and the mean times the number of objects is its unbiased estimate, for each kind and so
/// for both (stratified sampling: Cochran, Sampling Techniques, 1977, section 5.3). The sum over the
/// references is not, where size and multiplicity go together among objects that recur.
pub fn estimate(objects: &Objects, asked: u64, answers: &[Answer]) -> ProbedSizes {
    let Totals { unsized_objects: unknown, unsized_recurring, .. } = objects.totals();
    let answered = answers.len() as u64;
    let digests = answers.iter().map(|answer| answer.digest).collect();
    let digests = objects.recurring_among(&digests);
    let (recurring, once): (Vec<Answer>, Vec<Answer>) =
        answers.iter().partition(|answer| digests.contains(&answer.digest));
    let sizes = |of: &[Answer]| -> Vec<u64> { of.iter().map(|answer| answer.size).collect() };
    ProbedSizes {
        unknown,
        asked,
        answered,
        failed: asked - answered,
        once: mean(unknown - unsized_recurring, &sizes(&once)),
        recurring: mean(unsized_recurring, &sizes(&recurring)),
    }
}

/// The sizes to assume; `None` without any answer.
pub fn assumed(probed: &ProbedSizes) -> Option<Assumed> {
    // Where only one kind answered, its mean is that of all answers.
    let (once, recurring) = (probed.once.or(probed.recurring)?, probed.recurring.or(probed.once)?);
    Some(Assumed { once: once.mean, recurring: recurring.mean })
}

/// The mean of the sizes that some of `objects` told, all of one kind; `None` without any.
///
/// Its standard error is s / sqrt(n) · sqrt(1 - n/N) with n answers of N objects (Cochran, equation
/// 2.20): given how many of a kind answered, they are a random sample of that kind.
fn mean(objects: u64, told: &[u64]) -> Option<MeanSize> {
    let answered = told.len() as u64;
    let sum: u128 = told.iter().map(|&size| u128::from(size)).sum();
    let (n, number) = (u128::from(answered), answered as f64);
    let rounded = (sum + n / 2).checked_div(n)?;
    let standard_error = match answered {
        all if all == objects => Some(0.0),
        1 => None,
        _ => {
            let mean = sum as f64 / number;
            let squares: f64 = told.iter().map(|&size| (size as f64 - mean).powi(2)).sum();
            let variance = squares / (number - 1.0);
            Some((variance / number * (1.0 - number / objects as f64)).sqrt())
        }
    };
    let mean = u64::try_from(rounded).expect("a mean is no larger than the largest size");
    Some(MeanSize { answered, mean, standard_error })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Objects without a size, so many referenced once and then so many referenced twice, whose
    /// digests count from 0; and one of known size.
    fn table(once: u64, twice: u64) -> Objects {
        let mut objects = Objects::default();
        (0..once).for_each(|digest| objects.push(digest, 1, None));
        (once..once + twice).for_each(|digest| objects.push(digest, 2, None));
        objects.push(u64::MAX, 5, Some(1));
        objects
    }

    fn answers(of: &[(u64, u64)]) -> Vec<Answer> {
        of.iter().map(|&(digest, size)| Answer { digest, size }).collect()
    }

    #[test]
    fn the_mean_is_rounded_and_its_error_is_as_calculated_by_hand() {
        // Deviations -40, -20, 60: the variance is 5600 / 2; three of twelve are known.
        let found = mean(12, &[10, 30, 110]).unwrap();
        assert_eq!((found.answered, found.mean), (3, 50));
        let error = found.standard_error.unwrap();
        assert!((error - (2800.0f64 / 3.0 * 0.75).sqrt()).abs() < 1e-9, "{error}");
        let rounded = |told: &[u64]| mean(9, told).unwrap().mean;
        assert_eq!((rounded(&[1, 2]), rounded(&[1, 1, 2]), rounded(&[u64::MAX; 2])), (2, 1, u64::MAX));
    }

    #[test]
    fn of_all_objects_the_mean_has_no_error_and_of_one_answer_it_is_not_known() {
        let error = |objects, told: &[u64]| mean(objects, told).unwrap().standard_error;
        assert_eq!(error(2, &[5, 500]), Some(0.0));
        assert_eq!(error(1, &[5]), Some(0.0));
        assert_eq!(error(2, &[5]), None);
    }

    #[test]
    fn objects_that_recur_have_a_mean_of_their_own() {
        let probed = estimate(&table(6, 3), 6, &answers(&[(8, 3), (1, 100), (6, 5), (4, 300), (7, 10)]));
        assert_eq!((probed.unknown, probed.asked, probed.answered, probed.failed), (9, 6, 5, 1));
        assert_eq!(probed.once, mean(6, &[100, 300]));
        assert_eq!(probed.recurring, mean(3, &[3, 5, 10]));
        assert_eq!(probed.recurring.unwrap().standard_error, Some(0.0));
        assert_eq!(assumed(&probed), Some(Assumed { once: 200, recurring: 6 }));
    }

    #[test]
    fn a_kind_without_an_answer_is_taken_to_be_like_the_other_one() {
        let probed = estimate(&table(6, 3), 2, &answers(&[(1, 100), (4, 300)]));
        assert_eq!((probed.once.unwrap().mean, probed.recurring), (200, None));
        assert_eq!(assumed(&probed), Some(Assumed::alike(200)));
        let probed = estimate(&table(6, 3), 1, &answers(&[(7, 9)]));
        assert_eq!((probed.once, probed.recurring.unwrap().mean), (None, 9));
        assert_eq!(assumed(&probed), Some(Assumed::alike(9)));
    }

    #[test]
    fn without_an_answer_there_is_no_mean() {
        for (once, asked) in [(0, 0), (9, 3)] {
            let probed = estimate(&table(once, 0), asked, &[]);
            assert_eq!((probed.unknown, probed.failed), (once, asked));
            assert_eq!((probed.once, probed.recurring, assumed(&probed)), (None, None, None));
        }
    }
}
