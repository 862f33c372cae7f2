//! Sizes as people write them: `64GiB`, `2TB`, `100 MB`.
//!
//! Strict on purpose. `10G` means 10^9 to some tools and 2^30 to others, so a unit is always
//! spelled out, and whatever does not fit 64 bits is refused instead of clipped.

use bytesize::{ByteSize, EB, EIB, GB, GIB, KB, KIB, MB, MIB, PB, PIB, TB, TIB};

const UNITS: [(&str, u64); 14] = [
    ("B", 1),
    ("kB", KB),
    ("KB", KB),
    ("MB", MB),
    ("GB", GB),
    ("TB", TB),
    ("PB", PB),
    ("EB", EB),
    ("KiB", KIB),
    ("MiB", MIB),
    ("GiB", GIB),
    ("TiB", TIB),
    ("PiB", PIB),
    ("EiB", EIB),
];

/// Bytes of a size such as `1.5TiB`; the error says which forms are legal.
pub fn parse(text: &str) -> Result<u64, String> {
    let (number, unit) = split_unit(text);
    let factor = UNITS.iter().find(|(name, _)| *name == unit).map(|(_, factor)| *factor);
    let (Some(factor), Some((whole, fraction))) = (factor, split_number(number)) else {
        return Err("write a number and a unit, such as 512kB, 100 MB or 2TB (powers of 1000), \
                    64MiB or 1.5GiB (powers of 1024), or 4096B"
            .into());
    };
    if factor == 1 && !fraction.is_empty() {
        return Err("there is no fraction of a byte".into());
    }
    bytes(whole, fraction, factor)
        .ok_or_else(|| format!("the largest size is {} bytes, just under 16EiB", u64::MAX))
}

/// `48.7 MB`: powers of 1000, one decimal.
pub fn show(bytes: u64) -> String {
    ByteSize::b(bytes).display().si().to_string()
}

/// What is of digits and points, and the unit behind it; one blank may be between them.
pub fn split_unit(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    (number, unit.strip_prefix(' ').unwrap_or(unit))
}

/// The digits before and after the point; at least one on either side.
pub fn split_number(number: &str) -> Option<(&str, &str)> {
    match number.split_once('.') {
        None if !number.is_empty() => Some((number, "")),
        Some((whole, fraction)) if !whole.is_empty() && !fraction.is_empty() && !fraction.contains('.') => {
            Some((whole, fraction))
        }
        _ => None,
    }
}

/// Exact: a float would lose bytes from 2^53 on. `None` beyond 64 bits.
fn bytes(whole: &str, fraction: &str, factor: u64) -> Option<u64> {
    let whole: u64 = whole.parse().ok()?;
    let digits = &fraction[..fraction.len().min(18)];
    let numerator: u128 = if digits.is_empty() { 0 } else { digits.parse().ok()? };
    let part = numerator * u128::from(factor) / 10u128.pow(digits.len() as u32);
    u64::try_from(u128::from(whole) * u128::from(factor) + part).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_with_units_are_exact() {
        for (text, bytes) in [
            ("64GiB", 64 << 30),
            ("2TB", 2_000_000_000_000),
            ("100 MB", 100_000_000),
            ("512kB", 512_000),
            ("512KB", 512_000),
            ("0B", 0),
            ("1.5TiB", 3 << 39),
            ("0.25KiB", 256),
            ("9007199254740993B", 9_007_199_254_740_993),
            ("18446744073709551615B", u64::MAX),
            ("15EiB", 15 << 60),
        ] {
            assert_eq!(parse(text), Ok(bytes), "{text}");
        }
    }

    #[test]
    fn what_could_mean_two_things_is_refused() {
        for text in [
            "", "0", "10", "1e9", "1e9B", "10G", "10g", "10gb", "10Gb", "1_000", "1,000B", "-1MB", "+1MB",
            ".5MB", "5.MB", "1.2.3MB", " 1MB", "1MB ", "1  MB", "MB", "1\tMB", "١MB", "0x10B", "infB",
        ] {
            let error = parse(text).expect_err(text);
            assert!(error.contains("64MiB"), "{text}: {error}");
        }
    }

    #[test]
    fn sizes_beyond_64_bits_are_refused() {
        for text in ["16EiB", "18446744073709551616B", "99999999999999999999999999999TB"] {
            assert!(parse(text).expect_err(text).contains("largest"), "{text}");
        }
        assert!(parse("1.5B").is_err());
    }

    #[test]
    fn sizes_are_shown_in_powers_of_1000() {
        assert_eq!(show(0), "0 B");
        assert_eq!(show(999), "999 B");
        assert_eq!(show(48_700_000), "48.7 MB");
    }
}
