//! Durations, rates, prices and shares as people write them. Sizes are in [`super::bytes`].
//!
//! As strict as sizes: a bare number where a unit belongs is refused, not guessed at.

use super::bytes;

const DURATIONS: [(&str, f64); 3] = [("us", 1e-6), ("ms", 1e-3), ("s", 1.0)];

/// Seconds of a duration such as `50ms`.
pub fn duration(text: &str) -> Result<f64, String> {
    let (number, unit) = bytes::split_unit(text);
    let factor = DURATIONS.iter().find(|(name, _)| *name == unit).map(|(_, factor)| *factor);
    match (decimal(number), factor) {
        (Some(number), Some(factor)) => Ok(number * factor),
        _ => Err("write a number and a unit, such as 2us, 50ms or 1.5s".into()),
    }
}

/// Bytes per second of a rate such as `100MB/s`; never 0.
pub fn rate(text: &str) -> Result<f64, String> {
    let legal = "write a size a second, such as 100MB/s or 1GiB/s";
    match text.strip_suffix("/s").map(bytes::parse) {
        Some(Ok(0)) => Err("a rate above 0 is needed".into()),
        Some(Ok(bytes)) => Ok(bytes as f64),
        _ => Err(legal.into()),
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

/// A number of digits, and maybe a point between them.
fn decimal(text: &str) -> Option<f64> {
    let (whole, fraction) = bytes::split_number(text)?;
    let digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
    (digits(whole) && digits(fraction)).then(|| text.parse().ok()).flatten()
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
    fn rates_are_sizes_a_second() {
        assert_eq!(rate("100MB/s"), Ok(1e8));
        assert_eq!(rate("1 GiB/s"), Ok(1_073_741_824.0));
        refuses(rate, &["100MB", "100", "100/s", "MB/s", "100MB/ s", "100Mbit/s"], "100MB/s");
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
    }
}
