//! Sizes, durations, rates, prices and shares as people type them.
//!
//! Strict on purpose: what has no unit where one belongs, or one of its own, is refused with the
//! forms that are legal, and so is what does not fit 64 bits.

const SUFFIXES: [&str; 7] = ["", "k", "m", "g", "t", "p", "e"];

const DURATIONS: [(&str, f64); 3] = [("us", 1e-6), ("ms", 1e-3), ("s", 1.0)];

/// Bytes of a size such as `2TB`, `64GiB`, `27G` or `4096`.
///
/// `k`, `kB`, `M`, `MB` and so on are powers of 1000, `Ki`, `KiB` and so on powers of 1024, in
/// upper or lower case, but `Gb`, which also means gigabits, is refused.
pub fn bytes(text: &str) -> Result<u64, String> {
    let legal =
        "write a size such as 512M, 27G, 2TB (powers of 1000), 64GiB (powers of 1024) or 4096 (bytes)";
    let (number, unit) = split_unit(text);
    let factor = factor(unit).ok_or(legal)?;
    let (whole, fraction) = split_number(number).ok_or(legal)?;
    let most = || format!("the largest size is {} bytes, just under 16EiB", u64::MAX);
    let whole: u64 = whole.parse().map_err(|_| most())?;
    // Exact: a float loses bytes from 2^53 on.
    let fraction = fraction.trim_end_matches('0');
    let (numerator, denominator) = match (fraction.parse::<u64>(), fraction.len() as u32) {
        (Ok(digits), length @ 1..=18) => (u128::from(digits) * factor, 10u128.pow(length)),
        (_, 0) => (0, 1),
        _ => return Err("a size has no fraction of a byte".into()),
    };
    if !numerator.is_multiple_of(denominator) {
        return Err("a size has no fraction of a byte".into());
    }
    u64::try_from(u128::from(whole) * factor + numerator / denominator).map_err(|_| most())
}

fn factor(unit: &str) -> Option<u128> {
    let lower = unit.to_ascii_lowercase();
    if unit.ends_with('b') && unit != lower {
        return None;
    }
    let prefix = lower.strip_suffix('b').unwrap_or(&lower);
    let (prefix, base) = prefix.strip_suffix('i').map_or((prefix, 1000), |prefix| (prefix, 1024));
    let power = SUFFIXES.iter().position(|suffix| *suffix == prefix)?;
    (power > 0 || base == 1000).then(|| u128::pow(base, power as u32))
}

/// Seconds of a duration such as `50ms`.
pub fn duration(text: &str) -> Result<f64, String> {
    let (number, unit) = split_unit(text);
    let factor = DURATIONS.iter().find(|(name, _)| *name == unit).map(|(_, factor)| *factor);
    match (decimal(number), factor) {
        (Some(number), Some(factor)) => Ok(number * factor),
        _ => Err("write a number and a unit, such as 2us, 50ms or 1.5s".into()),
    }
}

/// Bytes per second of a rate such as `100MB/s`; never 0.
pub fn rate(text: &str) -> Result<f64, String> {
    match text.strip_suffix("/s").map(bytes) {
        Some(Ok(0)) => Err("a rate is above 0".into()),
        Some(Ok(bytes)) => Ok(bytes as f64),
        _ => Err("write a size per second, such as 100MB/s or 1GiB/s".into()),
    }
}

/// Dollars, from 0 on.
pub fn price(text: &str) -> Result<f64, String> {
    decimal(text).ok_or_else(|| "write dollars as a plain number, such as 0.09".into())
}

/// Months, above 0.
pub fn months(text: &str) -> Result<f64, String> {
    decimal(text).filter(|months| *months > 0.0).ok_or_else(|| "write a number above 0, such as 3".into())
}

/// The share that a percentage such as `40%` is; above 0, at most 1.
pub fn share(text: &str) -> Result<f64, String> {
    let share = text.strip_suffix('%').and_then(decimal).map(|percent| percent / 100.0);
    share
        .filter(|share| *share > 0.0 && *share <= 1.0)
        .ok_or_else(|| "write a percentage above 0% and up to 100%, such as 40%".into())
}

/// A whole number, at least 1.
pub fn positive(text: &str) -> Result<u64, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err("write a whole number of at least 1".into()),
        Ok(n) => Ok(n),
    }
}

/// A number of digits, maybe with a point between them.
pub fn decimal(text: &str) -> Option<f64> {
    split_number(text).and_then(|_| text.parse().ok())
}

/// Digits and points, and the unit after them; one blank may stand between.
fn split_unit(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    (number, unit.strip_prefix(' ').filter(|unit| !unit.is_empty()).unwrap_or(unit))
}

/// The digits before and after the point, at least one on either side.
fn split_number(number: &str) -> Option<(&str, &str)> {
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    match number.split_once('.') {
        None => digits(number).then_some((number, "")),
        Some((whole, fraction)) => (digits(whole) && digits(fraction)).then_some((whole, fraction)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refuses<T: std::fmt::Debug>(parse: fn(&str) -> Result<T, String>, texts: &[&str], help: &str) {
        for text in texts {
            let error = parse(text).expect_err(text);
            assert!(error.contains(help), "{text}: {error}");
        }
    }

    #[test]
    fn sizes_are_exact() {
        for (text, size) in [
            ("64GiB", 64 << 30),
            ("2TB", 2_000_000_000_000),
            ("27G", 27_000_000_000),
            ("27g", 27_000_000_000),
            ("27Gi", 27 << 30),
            ("512M", 512_000_000),
            ("4096", 4_096),
            ("1.5T", 1_500_000_000_000),
            ("100 MB", 100_000_000),
            ("512kB", 512_000),
            ("512KB", 512_000),
            ("512kb", 512_000),
            ("0B", 0),
            ("0", 0),
            ("1.0B", 1),
            ("1.5TiB", 3 << 39),
            ("0.25KiB", 256),
            ("9007199254740993B", 9_007_199_254_740_993),
            ("18446744073709551615", u64::MAX),
            ("15EiB", 15 << 60),
        ] {
            assert_eq!(bytes(text), Ok(size), "{text}");
        }
    }

    #[test]
    fn what_is_no_size_is_refused_with_the_legal_forms() {
        let wrong = [
            "", "1e9", "1e9B", "10Gb", "10Mbit", "1_000", "1,000B", "-1MB", "+1MB", ".5MB", "5.MB",
            "1.2.3MB", " 1MB", "1MB ", "1  MB", "1 ", "MB", "G", "1\tMB", "١MB", "0x10B", "infB", "5i",
            "5iB", "5x",
        ];
        refuses(bytes, &wrong, "64GiB");
    }

    #[test]
    fn sizes_beyond_64_bits_and_fractions_of_a_byte_are_refused() {
        refuses(bytes, &["16EiB", "18446744073709551616", "99999999999999999999999999999TB"], "largest");
        refuses(bytes, &["1.5", "1.5B", "1.0005k", "0.3KiB", "1.0000000000000000000001T"], "fraction");
    }

    #[test]
    fn durations_need_a_unit() {
        for (text, seconds) in
            [("2us", 2e-6), ("50ms", 0.05), ("50 ms", 0.05), ("1.5s", 1.5), ("0ms", 0.0), ("10s", 10.0)]
        {
            let parsed = duration(text).unwrap();
            assert!((parsed - seconds).abs() < 1e-12, "{text}: {parsed}");
        }
        let wrong =
            ["", "0", "50", "ms", "-1ms", "1e3ms", "1.ms", ".5s", "5m", "5 min", "50MS", "50ms ", "nans"];
        refuses(duration, &wrong, "50ms");
    }

    #[test]
    fn rates_are_sizes_per_second() {
        assert_eq!(rate("100MB/s"), Ok(1e8));
        assert_eq!(rate("1 GiB/s"), Ok(1_073_741_824.0));
        refuses(rate, &["100MB", "100", "MB/s", "100MB/ s", "100Mbit/s"], "100MB/s");
        refuses(rate, &["0B/s"], "above 0");
    }

    #[test]
    fn prices_months_and_shares_are_plain_numbers() {
        assert_eq!(price("0.0004"), Ok(0.0004));
        assert_eq!(price("0"), Ok(0.0));
        refuses(price, &["", "$1", "-1", "1e3", "1,5", "inf", "NaN", "."], "0.09");
        assert_eq!(months("1.5"), Ok(1.5));
        refuses(months, &["0", "0.0", "-1", "3m"], "above 0");
        assert_eq!(share("40%"), Ok(0.4));
        assert_eq!(share("100%"), Ok(1.0));
        refuses(share, &["40", "0.4", "0%", "101%", "%", "4 %", "-4%"], "40%");
        refuses(positive, &["0", "-1", "", "1.5"], "at least 1");
    }
}
