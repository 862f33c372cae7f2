//! The words that flags accept, what help says about them, and the values they stand for.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use onepull::commands::materialize::{
    CacheMode, CachePolicy, Compression, Format, ImageTokens, MaxErrors, OnError,
};

/// A word, its help, its value.
pub type Choice<T> = (&'static str, &'static str, T);

/// How a run shows that it advances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    Auto,
    Bar,
    Plain,
    None,
}

pub const PROGRESS: &[Choice<Progress>] = &[
    ("auto", "Bars on a terminal, plain lines elsewhere", Progress::Auto),
    ("bar", "Bars where stderr is a terminal of any kind, else as plain", Progress::Bar),
    ("plain", "One line at the end of a phase, and one every ten seconds", Progress::Plain),
    ("none", "Nothing", Progress::None),
];

/// What a cache is to save.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    Requests,
    Bytes,
    Seconds,
    Dollars,
}

pub const OBJECTIVES: &[Choice<Goal>] = &[
    ("requests", "Source reads", Goal::Requests),
    ("bytes", "Bytes read from the source", Goal::Bytes),
    ("seconds", "Time, with --latency --bandwidth --hit-cost --put-cost", Goal::Seconds),
    ("dollars", "Money, with --price-get --egress --price-storage --months", Goal::Dollars),
];

pub const FORMATS: &[Choice<Format>] = &[
    ("parquet", "Rows with the payload in `binary_content`", Format::Parquet),
    ("webdataset", "Tar files, one group of members per sample", Format::WebDataset),
];

pub const CACHE_MODES: &[Choice<CacheMode>] = &[
    ("always", "Every object is read from its source once and kept", CacheMode::Always),
    ("auto", "As always, but leaves the cache out where reading the source is faster", CacheMode::Auto),
    ("never", "Payloads are read when a row needs them and are not kept", CacheMode::Never),
];

pub const CACHE_POLICIES: &[Choice<CachePolicy>] = &[
    ("density", "Those with the most references beyond the first per byte", CachePolicy::Density),
    ("count", "Those with the most references", CachePolicy::Count),
];

pub const ON_ERROR: &[Choice<OnError>] = &[
    ("fail", "The run fails", OnError::Fail),
    ("keep", "The row stays, without payload; `materialize_error` says why", OnError::Keep),
    ("drop-row", "The row is left out", OnError::DropRow),
    ("drop-sample", "All rows of its sample are left out", OnError::DropSample),
];

pub const COMPRESSIONS: &[Choice<Compression>] = &[
    ("zstd", "Small", Compression::Zstd),
    ("snappy", "Fast", Compression::Snappy),
    ("lz4", "Fast", Compression::Lz4),
    ("none", "As they are", Compression::None),
];

pub const IMAGE_TOKENS: &[Choice<ImageTokens>] = &[
    ("member", "The full name of the member", ImageTokens::Member),
    ("part", "The part of that name after its first dot", ImageTokens::Part),
];

/// A clap parser that admits the words of `choices` and yields their values.
pub fn parser<T>(choices: &'static [Choice<T>]) -> impl TypedValueParser<Value = T>
where
    T: Copy + Send + Sync + 'static,
{
    PossibleValuesParser::new(choices.iter().map(|(word, help, _)| PossibleValue::new(*word).help(*help)))
        .map(|given| {
            let (_, _, value) = choices
                .iter()
                .find(|(word, ..)| *word == given)
                .expect("clap admits only the words of this table");
            *value
        })
}

/// The word for a value.
pub fn word<T: Copy + PartialEq>(choices: &[Choice<T>], value: T) -> &'static str {
    let (word, ..) = choices.iter().find(|(.., of)| *of == value).expect("the table has every value");
    word
}

/// `N` or `P%`.
pub fn parse_max_errors(text: &str) -> Result<MaxErrors, String> {
    let legal = "a count such as 100, or a percentage of the references such as 0.5%";
    let plain = |digits: &str| digits.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    match text.strip_suffix('%') {
        Some(number) if plain(number) => match number.parse() {
            Ok(percent) if percent <= 100.0 => Ok(MaxErrors::Percent(percent)),
            Ok(_) => Err("a percentage is at most 100%".into()),
            Err(_) => Err(format!("write {legal}")),
        },
        None if plain(text) => text.parse().map(MaxErrors::Count).map_err(|_| format!("write {legal}")),
        _ => Err(format!("write {legal}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn max_errors_is_a_count_or_a_percentage() {
        assert_eq!(parse_max_errors("0"), Ok(MaxErrors::Count(0)));
        assert_eq!(parse_max_errors("12"), Ok(MaxErrors::Count(12)));
        assert_eq!(parse_max_errors("0.5%"), Ok(MaxErrors::Percent(0.5)));
        assert_eq!(parse_max_errors("100%"), Ok(MaxErrors::Percent(100.0)));
    }

    #[test]
    fn max_errors_refuses_everything_else() {
        for text in
            ["", "%", "-1", "+1", "1.5", "101%", "-1%", "nan%", "inf%", "1e2%", "5 %", "ten", ".", ".%"]
        {
            assert!(parse_max_errors(text).is_err(), "{text:?}");
        }
    }
}
