//! Counting some objects in place of all: an unbiased sample by key.
//!
//! Whether an object is kept depends on a hash of its key, so all of its references are kept or
//! none: a count divided by the share is unbiased. A sample of rows, shards or documents is not;
//! it tears references of one object apart. What follows from a sample is in [`super::estimate`].

use std::str::FromStr;

/// A share of all keys.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Share {
    /// Above 0, at most 1.
    pub share: f64,
}

impl Share {
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

/// Reads `1/180`, `0.01` or `5%`; the error says what is legal.
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

#[cfg(test)]
mod tests {
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
}
