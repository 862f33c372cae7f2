//! Counting some objects instead of all: an unbiased sample by key.
//!
//! Whether an object is kept depends on a hash of its key, so all of its references are kept or
//! none: a count divided by the share is unbiased. A sample of rows, shards or documents is biased,
//! because it separates references to one object.
//!
//! Intervals hold the truth in 95 of 100 samples. Each object is in the sample with probability s,
//! independently (Bernoulli sampling). The number of references R is known exactly, because every
//! row is read anyway. Let n objects, n1 of them referenced once, be in the sample, and z = 1.96.
//! With s = 1 every interval is a point.

use std::str::FromStr;

use super::histogram::Histogram;

/// A share of all keys.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Share {
    /// Above 0, at most 1.
    pub share: f64,
}

impl Share {
    pub const ALL: Share = Share { share: 1.0 };

    /// Half of this sample: whatever is in it is in this one, too.
    pub fn halved(self) -> Share {
        Share { share: self.share / 2.0 }
    }

    /// Whether the object with this hash, uniform over 64 bits, is in the sample.
    ///
    /// The hash is mixed, so that a sample holds its share of the objects of every range of
    /// hashes. A smaller share is a part of a larger one.
    #[inline]
    pub fn keeps(&self, hash: u64) -> bool {
        // 53 bits: what a float holds exactly.
        let uniform = mix(hash ^ mix(0)) >> 11;
        (uniform as f64) < self.share * (1u64 << 53) as f64
    }
}

/// Reads `1/180`, `0.01` or `5%`; the error shows the syntax.
impl FromStr for Share {
    type Err = String;

    fn from_str(text: &str) -> Result<Share, String> {
        const LEGAL: &str = "write a share such as 1/180, 0.01 or 5%";
        let share = if let Some((part, whole)) = text.split_once('/') {
            count(part).zip(count(whole)).map(|(part, whole)| part / whole)
        } else if let Some(percent) = text.strip_suffix('%') {
            decimal(percent).map(|percent| percent / 100.0)
        } else {
            decimal(text)
        };
        match share {
            Some(share) if share > 0.0 && share <= 1.0 => Ok(Share { share }),
            Some(_) => Err(format!("a share is above 0 and at most 1: {LEGAL}")),
            None => Err(LEGAL.into()),
        }
    }
}

/// A bijection of 64 bits whose every output bit depends on every input bit: two rounds of
/// multiplication and shift, after David Stafford's thirteenth variant of the MurmurHash3
/// finalizer. The constant added first keeps 0 from being its own image.
fn mix(bits: u64) -> u64 {
    let bits = bits.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

/// Digits only: `parse` alone would take signs, exponents and `inf`.
fn count(text: &str) -> Option<f64> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().ok()).flatten()
}

/// Digits, and digits after a point if there is one.
fn decimal(text: &str) -> Option<f64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    count(whole).and(count(fraction)).and_then(|_| text.parse().ok())
}

/// Of a standard normal variable, 95 % lie between -z and z.
const Z: f64 = 1.959_963_984_540_054;

/// An estimate with its 95 % interval, `low <= value <= high`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    pub value: f64,
    pub low: f64,
    pub high: f64,
}

/// What is estimated of a whole corpus.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimates {
    pub objects: Estimate,
    /// The hit rate of an unbounded cache, 1 - objects/R.
    pub ceiling: Estimate,
    /// Share of the objects that are referenced once.
    pub singleton_share: Estimate,
    /// Bytes of the objects of known size.
    pub unique_bytes: Estimate,
}

impl Estimates {
    /// From the objects of a sample of `share`, above 0 and at most 1, of a corpus of exactly
    /// `references`.
    pub fn new(sampled: &Histogram, share: f64, references: u64) -> Estimates {
        let objects = objects(sampled, share, references);
        Estimates {
            objects,
            ceiling: ceiling(objects, references),
            singleton_share: singleton_share(sampled, share),
            unique_bytes: unique_bytes(sampled, share),
        }
    }
}

impl Estimate {
    fn clamped(self, least: f64, most: f64) -> Estimate {
        let clamp = |value: f64| value.max(least).min(most);
        Estimate { value: clamp(self.value), low: clamp(self.low), high: clamp(self.high) }
    }
}

/// U = n/s. n is binomial with U trials, so the interval holds the U with
/// (n - U·s)² <= z²·U·s·(1-s): (n + c/2 ± sqrt(n·c + c²/4))/s with c = z²·(1-s). Unlike the usual
/// n ± z·sqrt(n·(1-s)) it is right for small n, too.
///
/// There are n objects at least, and each other one has one of the other references at least.
fn objects(sampled: &Histogram, share: f64, references: u64) -> Estimate {
    let n = sampled.objects() as f64;
    let others = references.saturating_sub(sampled.references());
    let c = Z * Z * (1.0 - share);
    let half = (n * c + c * c / 4.0).sqrt();
    let estimate =
        Estimate { value: n / share, low: (n + c / 2.0 - half) / share, high: (n + c / 2.0 + half) / share };
    estimate.clamped(n + others.min(1) as f64, n + others as f64)
}

/// 1 - U/R, which falls as U rises. 0 without references.
///
/// The ratio of the sample's own objects and references would ignore that R is known, and a few
/// objects with many references would make it several times less certain.
fn ceiling(objects: Estimate, references: u64) -> Estimate {
    let of = |objects: f64| if references == 0 { 0.0 } else { 1.0 - objects / references as f64 };
    Estimate { value: of(objects.value), low: of(objects.high), high: of(objects.low) }.clamped(0.0, 1.0)
}

/// p = n1/n with Wilson's score interval,
/// (p + c/2n ± sqrt(c·p·(1-p)/n + c²/4n²)) / (1 + c/n), where c = z²·(1-s): the factor 1-s because
/// the sampled share of the objects is certain. 0, anything between 0 and 1, without objects.
fn singleton_share(sampled: &Histogram, share: f64) -> Estimate {
    let n = sampled.objects() as f64;
    if n == 0.0 {
        return Estimate { value: 0.0, low: 0.0, high: if share < 1.0 { 1.0 } else { 0.0 } };
    }
    let p = sampled.singletons() as f64 / n;
    let c = Z * Z * (1.0 - share) / n;
    let half = (c * p * (1.0 - p) + c * c / 4.0).sqrt();
    let end = |half: f64| (p + c / 2.0 + half) / (1.0 + c);
    // Rounding may put an end just inside p.
    Estimate { value: p, low: end(-half).min(p), high: end(half).max(p) }.clamped(0.0, 1.0)
}

/// The Horvitz-Thompson estimate, (sum of sizes)/s, ± z times the root of its variance, estimated
/// by (1-s)/s²·(sum of squared sizes). At least what was counted; the sample sets no upper limit.
fn unique_bytes(sampled: &Histogram, share: f64) -> Estimate {
    let counted = sampled.unique_bytes() as f64;
    let half = Z * ((1.0 - share) * sampled.squared_bytes()).sqrt();
    let estimate =
        Estimate { value: counted / share, low: (counted - half) / share, high: (counted + half) / share };
    estimate.clamped(counted, f64::INFINITY)
}

/// `n`, times the number of objects that each counted one stands for. Exact where that is 1.
pub fn scaled(n: u128, scale: f64) -> u64 {
    if scale == 1.0 { u64::try_from(n).unwrap_or(u64::MAX) } else { (n as f64 * scale).round() as u64 }
}

#[cfg(test)]
mod tests {
    use super::super::samples::histogram;
    use super::*;

    #[test]
    fn fractions_decimals_and_percentages_are_read() {
        for (text, value) in [
            ("1/180", 1.0 / 180.0),
            ("3/4", 0.75),
            ("0.01", 0.01),
            ("5%", 0.05),
            ("0.5%", 0.005),
            ("1", 1.0),
            ("100%", 1.0),
            ("7/7", 1.0),
            ("1/1000000000000000000000", 1e-21),
        ] {
            assert_eq!(text.parse(), Ok(Share { share: value }), "{text}");
        }
    }

    #[test]
    fn what_is_no_share_is_refused() {
        for text in [
            "", "/", "1/", "/2", "1/2/3", "1 / 2", "1/2%", "-1/2", "+0.1", ".1", "1.", "1e-2", "0.1.1",
            "0,1", "inf", "nan", "%", "5 %", " 5%", "5%%", "0.1/1", "0x1", "١%",
        ] {
            let error = text.parse::<Share>().expect_err(text);
            assert!(error.starts_with("write a share such as 1/180"), "{text}: {error}");
        }
        let huge = "9".repeat(400);
        for text in ["0", "0%", "0/5", "1/0", "0/0", "2", "181/180", "100.1%", "1.0000001", huge.as_str()] {
            let found = text.parse::<Share>();
            assert!(found.is_err(), "{text}");
        }
        assert!("2".parse::<Share>().unwrap_err().contains("at most 1"));
    }

    #[test]
    fn the_sample_has_its_share_of_every_range_of_hashes() {
        let sample = Share { share: 0.1 };
        // 256 ranges by the top bits, as partitions are chosen; and hashes that are no better than
        // counters.
        for partition in 0..256u64 {
            let kept = (0..4000u64).filter(|&low| sample.keeps(partition << 56 | low)).count() as f64;
            assert!((kept - 400.0).abs() < 5.0 * 360.0f64.sqrt(), "{partition}: {kept}");
        }
    }

    #[test]
    fn a_smaller_share_is_a_part_of_a_larger_one_and_all_is_all() {
        for hash in (0..20_000u64).chain([u64::MAX]) {
            assert!(Share { share: 1.0 }.keeps(hash));
            assert!(Share { share: 0.3 }.keeps(hash) || !Share { share: 0.01 }.keeps(hash));
        }
    }

    fn point(value: f64) -> Estimate {
        Estimate { value, low: value, high: value }
    }

    #[test]
    fn a_sample_of_all_leaves_no_doubt() {
        let all = histogram(&[(1, Some(10)), (3, Some(30)), (4, None)]);
        let found = Estimates::new(&all, 1.0, 8);
        assert_eq!(found.objects, point(3.0));
        assert_eq!(found.ceiling, point(1.0 - 3.0 / 8.0));
        assert_eq!(found.singleton_share, point(1.0 / 3.0));
        assert_eq!(found.unique_bytes, point(40.0));
        let nothing = Estimates::new(&Histogram::default(), 1.0, 0);
        assert_eq!((nothing.objects, nothing.singleton_share), (point(0.0), point(0.0)));
    }

    #[test]
    fn intervals_are_as_computed_by_hand() {
        let objects: Vec<_> = (0..100).map(|i| (if i < 40 { 1 } else { 2 }, Some(10))).collect();
        let sampled = histogram(&objects);
        let found = Estimates::new(&sampled, 0.5, 1000);
        let near = |estimate: Estimate, value, low, high| {
            let off = [estimate.value - value, estimate.low - low, estimate.high - high];
            assert!(off.iter().all(|off: &f64| off.abs() < 1e-4), "{estimate:?}");
        };
        // c = 1.92073, roots of 100 ± sqrt(c·100 + c²/4) about c/2.
        near(found.objects, 200.0, 174.136_2, 229.705_3);
        near(found.ceiling, 0.8, 0.770_295, 0.825_864);
        near(found.singleton_share, 0.4, 0.334_606, 0.469_163);
        near(found.unique_bytes, 2000.0, 1_722.819_2, 2_277.180_8);
    }

    #[test]
    fn an_empty_sample_says_little_and_nothing_impossible() {
        let found = Estimates::new(&Histogram::default(), 0.01, 50);
        assert_eq!(found.objects, Estimate { value: 1.0, low: 1.0, high: 50.0 });
        assert_eq!(found.ceiling, Estimate { value: 0.98, low: 0.0, high: 0.98 });
        assert_eq!(found.singleton_share, Estimate { value: 0.0, low: 0.0, high: 1.0 });
        assert_eq!(found.unique_bytes, point(0.0));
    }

    #[test]
    fn estimates_stay_within_what_is_possible() {
        // All objects were drawn by chance: there are no references left for others.
        let found = Estimates::new(&histogram(&[(5, Some(1)), (1, Some(1000))]), 0.1, 6);
        assert_eq!(found.objects, point(2.0));
        assert_eq!(found.unique_bytes.low, 1001.0);
        // Nothing recurs.
        let found = Estimates::new(&histogram(&[(1, None); 7]), 0.1, 70);
        assert_eq!((found.ceiling.low, found.singleton_share.high), (0.0, 1.0));
    }
}
