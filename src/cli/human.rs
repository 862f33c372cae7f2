//! Numbers as people read them. Sizes are in [`super::bytes`].

use std::borrow::Cow;

pub use onepull::commands::wording::count;

use super::bytes;

/// `1 manifest`, `1,963 objects`.
pub fn things(n: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(n), if n == 1 { one } else { many })
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

/// As [`seconds`], and `949.1 days` from two days on; also what is lost, `-4.20 s`.
pub fn long(s: f64) -> String {
    // What would be shown as nothing has no sign.
    let sign = if s <= -0.005 { "-" } else { "" };
    match s.abs() {
        s if s < 172_800.0 => format!("{sign}{}", seconds(s)),
        s if s < 8_640_000.0 => format!("{sign}{:.1} days", s / 86_400.0),
        s => format!("{sign}{} days", count((s / 86_400.0).round() as u64)),
    }
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

/// `999,999`, `14.8 M`, `1,582 M`: short, for columns.
pub fn short_count(n: u64) -> String {
    match n {
        0..=999_999 => count(n),
        n if n < 999_950_000 => format!("{:.1} M", n as f64 / 1e6),
        n => format!("{} M", count((n as f64 / 1e6).round() as u64)),
    }
}

/// `4 s`, `3 min 20 s`: an estimate claims no more digits than it has.
pub fn about(s: f64) -> String {
    let s = s.ceil();
    if s < 60.0 { format!("{s:.0} s") } else { seconds(s) }
}

/// `1,204 objects/s`; nothing when the time is too short to say.
pub fn rate(n: u64, seconds: f64, unit: &str) -> Option<String> {
    per_second(n, seconds).map(|n| format!("{} {unit}/s", count(n)))
}

/// `4.9 MB/s`; nothing when the time is too short to say, or there were no bytes.
pub fn byte_rate(bytes: u64, seconds: f64) -> Option<String> {
    per_second(bytes, seconds).filter(|_| bytes > 0).map(|bytes| format!("{}/s", bytes::show(bytes)))
}

/// `5.12 ms`, `183 us`: what one operation takes.
pub fn moment(s: f64) -> String {
    match s {
        s if s >= 0.9995 => seconds(s),
        s if s >= 0.000_999_5 => format!("{:.2} ms", s * 1e3),
        s => format!("{:.0} us", s * 1e6),
    }
}

/// `40.2 %`, `0.02 %`: shares that are almost nothing or almost all are not rounded to it.
pub fn percent(share: f64) -> String {
    let percent = share * 100.0;
    match percent {
        p if p <= 0.0 => "0 %".into(),
        p if p < 0.005 => "<0.01 %".into(),
        p if p < 0.095 => format!("{p:.2} %"),
        p if p >= 100.0 => "100 %".into(),
        p if p >= 99.95 => ">99.9 %".into(),
        p => format!("{p:.1} %"),
    }
}

/// The text with control characters spelled out: names in manifests and on disk may hold what a
/// terminal would obey.
pub fn printable(text: &str) -> Cow<'_, str> {
    if !text.contains(char::is_control) {
        return text.into();
    }
    text.chars()
        .flat_map(|c| {
            let escaped = c.is_control().then(|| c.escape_default());
            let plain = (!c.is_control()).then_some(c);
            escaped.into_iter().flatten().chain(plain)
        })
        .collect()
}

fn per_second(n: u64, seconds: f64) -> Option<u64> {
    (seconds >= 0.001).then(|| (n as f64 / seconds).round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_carry_the_unit_that_fits() {
        assert_eq!(seconds(0.0), "0.00 s");
        assert_eq!(seconds(9.999), "10.0 s");
        assert_eq!(seconds(59.99), "1 min 00 s");
        assert_eq!(seconds(200.2), "3 min 20 s");
        assert_eq!(seconds(7_500.0), "2 h 05 min");
    }

    #[test]
    fn savings_have_a_sign_and_few_digits() {
        for (s, text) in [
            (-4.2, "-4.20 s"),
            (-0.004, "0.00 s"),
            (7_500.0, "2 h 05 min"),
            (172_800.0, "2.0 days"),
            (8.2e7, "949 days"),
        ] {
            assert_eq!(long(s), text);
        }
        for (amount, text) in [
            (0.0, "$0.00"),
            (0.001, "<$0.01"),
            (-2.0, "-$2.00"),
            (999.996, "$1,000"),
            (12_345.4, "$12,345"),
            (1.234e9, "$1,234 M"),
        ] {
            assert_eq!(dollars(amount), text);
        }
    }

    #[test]
    fn short_counts_are_exact_below_a_million() {
        for (n, text) in [
            (999_999, "999,999"),
            (14_800_000, "14.8 M"),
            (999_949_999, "999.9 M"),
            (1_582_193_028, "1,582 M"),
        ] {
            assert_eq!(short_count(n), text);
        }
    }

    #[test]
    fn estimates_are_in_whole_seconds() {
        assert_eq!(about(3.2), "4 s");
        assert_eq!(about(59.5), "1 min 00 s");
        assert_eq!(about(200.0), "3 min 20 s");
    }

    #[test]
    fn a_rate_over_no_time_is_not_said() {
        assert_eq!(rate(10, 0.0, "rows"), None);
        assert_eq!(rate(3_000, 2.0, "rows").as_deref(), Some("1,500 rows/s"));
        assert_eq!(byte_rate(0, 2.0), None);
        assert_eq!(byte_rate(9_800_000, 2.0).as_deref(), Some("4.9 MB/s"));
    }

    #[test]
    fn single_operations_take_milliseconds_or_less() {
        assert_eq!(moment(0.000_183), "183 us");
        assert_eq!(moment(0.005_12), "5.12 ms");
        assert_eq!(moment(1.5), "1.50 s");
    }

    #[test]
    fn shares_are_not_rounded_to_nothing_or_all() {
        for (share, text) in [
            (0.0, "0 %"),
            (0.000_000_1, "<0.01 %"),
            (0.000_2, "0.02 %"),
            (0.001, "0.1 %"),
            (0.402, "40.2 %"),
            (0.999_6, ">99.9 %"),
            (1.0, "100 %"),
        ] {
            assert_eq!(percent(share), text);
        }
    }

    #[test]
    fn control_characters_do_not_reach_the_terminal() {
        assert_eq!(printable("plain ü"), "plain ü");
        assert_eq!(printable("a\u{1b}[2Jb"), "a\\u{1b}[2Jb");
        assert_eq!(printable("a\nb"), "a\\nb");
    }
}
