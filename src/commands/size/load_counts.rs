//! Where the counts come from: manifests that are counted now, or a file of saved counts. Sizes that the
//! locators lack may be probed: those of some objects estimate those of all.
//!
//! The probed objects are a random sample without replacement; each object is equally likely, however
//! often it is referenced.

use super::{Options, Origin, ProbedSizes};
use crate::commands::analyze::{self, Counted};
use crate::commands::saved_counts;
use crate::monitor::Monitor;

/// The counts of the corpus, and the sizes that were probed.
///
/// Fails when an input does not exist, a temporary file cannot be written, or saved counts are
/// damaged.
pub fn load(
    options: &Options,
    pool: &rayon::ThreadPool,
    monitor: &dyn Monitor,
) -> anyhow::Result<(Counted, Option<ProbedSizes>)> {
    let manifests = match &options.origin {
        Origin::Manifests(manifests) => manifests,
        Origin::Table(file) => {
            let table = pool.install(|| saved_counts::read(file))?;
            return Ok((Counted { table, ..Counted::default() }, None));
        }
    };
    let counting = analyze::Options {
        ordered: ordered(options),
        unsized_sample: options.probe_sizes,
        allow: options.allow.clone(),
        outputs: options.outputs.clone(),
        ..analyze::Options::counting(manifests, options.root.as_deref(), options.jobs, options.memory)
    };
    let counted = analyze::count(&counting, monitor)?;
    let unknown = counted.table.totals().unsized_objects;
    let probed = (options.probe_sizes > 0).then(|| probed_sizes(unknown, counted.asked, &counted.answers));
    Ok((counted, probed))
}

/// At most so many references are followed in order: the caches for them take a second or two.
const FOLLOWED: usize = 1 << 21;

/// Bytes for each followed reference, until all caches are compared.
const FOLLOWED_BYTES: u64 = 64;

/// How many references to follow; where there are more, those to a sample of the objects.
fn ordered(options: &Options) -> usize {
    usize::try_from(options.memory / FOLLOWED_BYTES).map_or(FOLLOWED, |most| most.min(FOLLOWED))
}

/// The mean size of the `unknown` objects, estimated from the `sizes` of those of `asked` that have one.
///
/// The size to assume is the mean, not the median: what a cache takes is a sum of sizes, and the mean
/// times the number of objects is its unbiased estimate. Its standard error is
/// s / sqrt(n) · sqrt(1 - n/N) with n answers of N objects (Cochran, Sampling Techniques, 1977,
/// equation 2.20).
fn probed_sizes(unknown: u64, asked: u64, sizes: &[u64]) -> ProbedSizes {
    let answered = sizes.len() as u64;
    let sum: u128 = sizes.iter().map(|&size| u128::from(size)).sum();
    let rounded = (sum + u128::from(answered / 2)).checked_div(u128::from(answered));
    let mean = rounded.map(|mean| u64::try_from(mean).expect("a mean is no larger than the largest size"));
    let standard_error = match answered {
        0 => None,
        all if all == unknown => Some(0.0),
        1 => None,
        _ => {
            let number = answered as f64;
            let mean = sum as f64 / number;
            let squares: f64 = sizes.iter().map(|&size| (size as f64 - mean).powi(2)).sum();
            let variance = squares / (number - 1.0);
            Some((variance / number * (1.0 - number / unknown as f64)).sqrt())
        }
    };
    ProbedSizes { unknown, asked, answered, failed: asked - answered, mean, standard_error }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_is_rounded_and_its_error_is_as_calculated_by_hand() {
        // Deviations -40, -20, 60: the variance is 5600 / 2; three of twelve are known.
        let found = probed_sizes(12, 4, &[10, 30, 110]);
        assert_eq!((found.answered, found.failed, found.mean), (3, 1, Some(50)));
        let error = found.standard_error.unwrap();
        assert!((error - (2800.0f64 / 3.0 * 0.75).sqrt()).abs() < 1e-9, "{error}");
        let rounded = |sizes: &[u64]| probed_sizes(9, 9, sizes).mean.unwrap();
        assert_eq!((rounded(&[1, 2]), rounded(&[1, 1, 2]), rounded(&[u64::MAX; 2])), (2, 1, u64::MAX));
    }

    #[test]
    fn of_all_objects_the_mean_has_no_error_and_of_one_answer_it_is_unknown() {
        let error = |unknown, sizes: &[u64]| probed_sizes(unknown, 2, sizes).standard_error;
        assert_eq!(error(2, &[5, 500]), Some(0.0));
        assert_eq!(error(1, &[5]), Some(0.0));
        assert_eq!(error(2, &[5]), None);
    }

    #[test]
    fn without_an_answer_there_is_no_mean() {
        for (unknown, asked) in [(0, 0), (9, 3)] {
            let probed = probed_sizes(unknown, asked, &[]);
            assert_eq!((probed.unknown, probed.failed), (unknown, asked));
            assert_eq!((probed.mean, probed.standard_error), (None, None));
        }
    }
}
