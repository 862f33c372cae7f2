//! Numbers and texts as people read them, in reports, progress and sentences.

use std::borrow::Cow;

use bytesize::ByteSize;

/// `1,582,193,028`.
pub fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `999,999`, `14.8 M`, `1,582 M`: short, for columns.
pub fn short_count(n: u64) -> String {
    match n {
        0..=999_999 => count(n),
        n if n < 999_950_000 => format!("{:.1} M", n as f64 / 1e6),
        n => format!("{} M", count((n as f64 / 1e6).round() as u64)),
    }
}

/// `1 manifest`, `1,963 objects`: `many` is the plural of `one`.
pub fn things(n: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(n), if n == 1 { one } else { many })
}

/// `1 object`, `1,963 objects`.
pub fn objects(n: u64) -> String {
    things(n, "object", "objects")
}

/// `4.43`, `1,668.00`: a factor or a mean.
pub fn decimal(value: f64, decimals: usize) -> String {
    let digits = format!("{value:.decimals$}");
    match digits.split_once('.') {
        Some((whole, rest)) => whole.parse().map_or(digits.clone(), |n| format!("{}.{rest}", count(n))),
        None => digits,
    }
}

/// `48.7 MB`: powers of 1000, one decimal.
pub fn bytes(n: u64) -> String {
    ByteSize::b(n).display().si().to_string()
}

/// `0.12 s`, `42.1 s`, `3 min 20 s`, `2 h 05 min`.
pub fn seconds(s: f64) -> String {
    let whole = s.round() as u64;
    match s {
        s if s < 9.995 => format!("{s:.2} s"),
        s if s < 59.95 => format!("{s:.1} s"),
        _ if whole < 3600 => format!("{} min {:02} s", whole / 60, whole % 60),
        _ => format!("{} h {:02} min", whole / 3600, whole % 3600 / 60),
    }
}

/// As [`seconds`], in days from two days on; a loss has a sign: `949 days`, `-4.20 s`.
pub fn days(s: f64) -> String {
    // What is shown as zero has no sign.
    let sign = if s <= -0.005 { "-" } else { "" };
    match s.abs() {
        s if s < 172_800.0 => format!("{sign}{}", seconds(s)),
        s if s < 8_640_000.0 => format!("{sign}{:.1} days", s / 86_400.0),
        s => format!("{sign}{} days", count((s / 86_400.0).round() as u64)),
    }
}

/// `5.12 ms`, `183 us`: the time of one operation.
pub fn latency(s: f64) -> String {
    match s {
        s if s >= 0.9995 => seconds(s),
        s if s >= 0.000_999_5 => format!("{:.2} ms", s * 1e3),
        s => format!("{:.0} us", s * 1e6),
    }
}

/// `4 s`, `3 min 20 s`: an estimate claims no more digits than it has.
pub fn about(s: f64) -> String {
    let s = s.ceil();
    if s < 60.0 { format!("{s:.0} s") } else { seconds(s) }
}

/// `1,204 objects/s`; `None` when the time is too short for a rate, or nothing was done.
pub fn rate(n: u64, seconds: f64, unit: &str) -> Option<String> {
    per_second(n, seconds).map(|n| format!("{} {unit}/s", count(n)))
}

/// `4.9 MB/s`; `None` when the time is too short for a rate, or there were no bytes.
pub fn byte_rate(n: u64, seconds: f64) -> Option<String> {
    per_second(n, seconds).map(|n| format!("{}/s", bytes(n)))
}

fn per_second(n: u64, seconds: f64) -> Option<u64> {
    (n > 0 && seconds >= 0.001).then(|| (n as f64 / seconds).round() as u64)
}

/// `$0.35`, `$12,345`, `-$2.00`.
pub fn dollars(amount: f64) -> String {
    let sign = if amount < 0.0 { "-" } else { "" };
    match amount.abs() {
        a if a > 0.0 && a < 0.005 => format!("{sign}<$0.01"),
        a if a < 999.995 => format!("{sign}${a:.2}"),
        a if a < 99_999_999.5 => format!("{sign}${}", count(a.round() as u64)),
        a => format!("{sign}${} M", count((a / 1e6).round() as u64)),
    }
}

/// `40.2 %`, `0.02 %`: a share that is almost nothing or almost all is not rounded to it.
pub fn percent(share: f64) -> String {
    match share * 100.0 {
        p if p <= 0.0 => "0 %".into(),
        p if p < 0.005 => "<0.01 %".into(),
        p if p < 0.095 => format!("{p:.2} %"),
        p if p >= 100.0 => "100 %".into(),
        p if p >= 99.95 => ">99.9 %".into(),
        p => format!("{p:.1} %"),
    }
}

/// `71.07 %`: a hit rate; almost none or almost all is not rounded to it.
pub fn hit_rate(rate: f64) -> String {
    match rate * 100.0 {
        p if p > 0.0 && p < 0.005 => "<0.01 %".into(),
        p if (99.995..100.0).contains(&p) => ">99.99 %".into(),
        p => format!("{p:.2} %"),
    }
}

/// The text with control characters spelled out: names in manifests and on disk may hold what a
/// terminal would obey.
pub fn printable(text: &str) -> Cow<'_, str> {
    if !text.contains(char::is_control) {
        return text.into();
    }
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if c.is_control() { out.extend(c.escape_default()) } else { out.push(c) }
    }
    out.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_have_thousands_separators() {
        assert_eq!([0, 999, 21_604, 1_582_193_028].map(count), ["0", "999", "21,604", "1,582,193,028"]);
        assert_eq!(decimal(1.998_002, 3), "1.998");
        assert_eq!(decimal(1_668.0, 2), "1,668.00");
    }

    #[test]
    fn short_counts_are_exact_below_a_million() {
        let short = [999_999, 14_800_000, 999_949_999, 1_582_193_028].map(short_count);
        assert_eq!(short, ["999,999", "14.8 M", "999.9 M", "1,582 M"]);
    }

    #[test]
    fn sizes_are_in_powers_of_1000() {
        assert_eq!([0, 999, 48_700_000].map(bytes), ["0 B", "999 B", "48.7 MB"]);
    }

    #[test]
    fn times_carry_the_unit_that_fits() {
        let times = [0.0, 9.999, 59.99, 200.2, 7_500.0].map(seconds);
        assert_eq!(times, ["0.00 s", "10.0 s", "1 min 00 s", "3 min 20 s", "2 h 05 min"]);
        assert_eq!([0.000_183, 0.005_12, 1.5].map(latency), ["183 us", "5.12 ms", "1.50 s"]);
        assert_eq!([3.2, 59.5, 200.0].map(about), ["4 s", "1 min 00 s", "3 min 20 s"]);
    }

    #[test]
    fn savings_have_a_sign_and_few_digits() {
        let times = [-4.2, -0.004, 7_500.0, 172_800.0, 8.2e7].map(days);
        assert_eq!(times, ["-4.20 s", "0.00 s", "2 h 05 min", "2.0 days", "949 days"]);
        let amounts = [0.0, 0.001, -2.0, 999.996, 12_345.4, 1.234e9].map(dollars);
        assert_eq!(amounts, ["$0.00", "<$0.01", "-$2.00", "$1,000", "$12,345", "$1,234 M"]);
    }

    #[test]
    fn there_is_no_rate_over_no_time_and_none_of_nothing() {
        assert_eq!(rate(10, 0.0, "rows"), None);
        assert_eq!(rate(3_000, 2.0, "rows").as_deref(), Some("1,500 rows/s"));
        assert_eq!(byte_rate(0, 2.0), None);
        assert_eq!(byte_rate(9_800_000, 2.0).as_deref(), Some("4.9 MB/s"));
    }

    #[test]
    fn shares_are_not_rounded_to_nothing_or_all() {
        let shares = [0.0, 0.000_000_1, 0.000_2, 0.001, 0.402, 0.999_6, 1.0].map(percent);
        assert_eq!(shares, ["0 %", "<0.01 %", "0.02 %", "0.1 %", "40.2 %", ">99.9 %", "100 %"]);
        let rates = [0.0, 0.000_04, 0.710_685, 0.999_94, 0.999_96, 1.0].map(hit_rate);
        assert_eq!(rates, ["0.00 %", "<0.01 %", "71.07 %", "99.99 %", ">99.99 %", "100.00 %"]);
    }

    #[test]
    fn control_characters_do_not_reach_the_terminal() {
        assert_eq!(printable("plain ü"), "plain ü");
        assert_eq!(printable("a\u{1b}[2Jb\n"), "a\\u{1b}[2Jb\\n");
    }
}
