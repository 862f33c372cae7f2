//! What the commands share of the command line: flags, their parsers, and errors of usage.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::{OsStringValueParser, PossibleValue, PossibleValuesParser, TypedValueParser};
use onepull::commands::format;
use onepull::commands::materialize::MaxErrors;

use super::{quantity, system};

/// A command line that no parser of a single flag can refuse.
#[derive(Debug)]
pub struct Usage(pub String);

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

/// Flags of every command.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Machine and report")]
pub struct Shared {
    /// Number of threads [default: cores]
    ///
    /// The default is the number of cores that this process may use. A low limit of open files
    /// lowers it. The result is the same with any number.
    #[arg(short, long, value_name = "N", value_parser = quantity::positive)]
    jobs: Option<u64>,

    /// Bound on memory, such as 2GB or 512MiB [default: half of the free memory]
    ///
    /// At least 16MB. References that do not fit are counted in temporary files. Free memory is
    /// what the machine has left, or what the control group allows if that is less.
    #[arg(long, value_name = "SIZE", value_parser = parse_memory)]
    memory: Option<u64>,

    /// Print the report as one JSON object on stdout, and nothing else there
    #[arg(long)]
    pub json: bool,

    /// Also write the report to FILE, as JSON
    ///
    /// The folder of FILE must exist. FILE is replaced whole or not at all.
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,

    /// How to show progress on stderr
    #[arg(long, value_name = "HOW", default_value = "auto", value_parser = choice(PROGRESS))]
    pub progress: Progress,

    /// Show no progress; problems and the report still appear
    #[arg(short, long, conflicts_with = "verbose")]
    pub quiet: bool,

    /// Print every problem, and the report in full
    #[arg(short, long)]
    verbose: bool,
}

/// How a run shows that it advances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    Auto,
    Bar,
    Plain,
    None,
}

const PROGRESS: &[Choice<Progress>] = &[
    ("auto", "Bars on a terminal, plain lines elsewhere", Progress::Auto),
    ("bar", "Bars on any kind of terminal, plain lines elsewhere", Progress::Bar),
    ("plain", "One line at the end of a phase, and one every ten seconds", Progress::Plain),
    ("none", "Nothing", Progress::None),
];

/// How much of a report and of the problems is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    Usual,
    /// Every problem, every shard, every budget.
    Full,
}

/// Less memory than this cannot be kept to.
const LEAST_MEMORY: u64 = 16_000_000;

impl Shared {
    /// Threads to use when `open_files` descriptors may be open, and a remark if that is fewer
    /// than asked for.
    pub fn jobs(&self, open_files: u64) -> (usize, Option<String>) {
        let most = system::jobs_for(open_files);
        match self.jobs.map(|asked| usize::try_from(asked).unwrap_or(usize::MAX)) {
            Some(asked) if asked > most => {
                let remark = format!(
                    "the limit of {open_files} open files leaves room for {most} jobs, not {asked}; \
                     raise it with `ulimit -n`"
                );
                (most, Some(remark))
            }
            Some(asked) => (asked, None),
            None => (system::cores().min(most), None),
        }
    }

    pub fn detail(&self) -> Detail {
        if self.verbose { Detail::Full } else { Detail::Usual }
    }

    /// Bytes of memory to stay under.
    pub fn memory(&self) -> u64 {
        self.memory.unwrap_or_else(system::default_memory).max(LEAST_MEMORY)
    }
}

/// What is read.
#[derive(Clone, Debug, Args)]
pub struct Inputs {
    /// Manifests: Parquet or JSONL files, or folders of them
    ///
    /// Folders are walked, and their files are taken in the order of their paths.
    #[arg(value_name = "MANIFEST", required = true)]
    pub manifests: Vec<PathBuf>,

    /// Folder that relative paths in locators start from [default: the manifest's folder]
    #[arg(long, help_heading = "Sources", value_name = "DIR")]
    pub root: Option<PathBuf>,

    /// Read nothing that a locator names outside PREFIX; may be repeated [default: no limit]
    #[arg(long, help_heading = "Sources", value_name = "PREFIX")]
    pub allow: Vec<PathBuf>,
}

/// How many errors make the exit code 3.
#[derive(Clone, Debug, Args)]
pub struct Tolerance {
    /// Errors to accept before the exit code is 3: a count, or a percentage of references
    ///
    /// An error is a line that is not a row, a locator that makes no sense, or an image that
    /// could not be fetched.
    #[arg(long, help_heading = "Errors", value_name = "N|P%", default_value = "0")]
    #[arg(value_parser = parse_max_errors)]
    pub max_errors: MaxErrors,
}

/// Where the cache is.
#[derive(Clone, Debug, Args)]
pub struct CacheFolder {
    /// Folder of the cache [default: onepull in the user's cache folder]
    ///
    /// The user's cache folder is $XDG_CACHE_HOME, or else ~/.cache.
    #[arg(long, help_heading = "Cache", value_name = "DIR", env = "ONEPULL_CACHE")]
    #[arg(value_parser = OsStringValueParser::new())]
    cache: Option<OsString>,
}

impl CacheFolder {
    /// Fails where neither flag nor environment names a folder.
    pub fn resolve(&self) -> Result<PathBuf, Usage> {
        // A variable that is set to nothing counts as not set.
        match self.cache.as_ref().filter(|folder| !folder.is_empty()) {
            Some(folder) => Ok(folder.into()),
            None => {
                user_cache(std::env::var_os("XDG_CACHE_HOME"), std::env::var_os("HOME")).ok_or_else(|| {
                    Usage("no cache folder: give --cache DIR, or set ONEPULL_CACHE or HOME".into())
                })
            }
        }
    }
}

/// The XDG base directory specification says to ignore a relative `XDG_CACHE_HOME`.
fn user_cache(xdg_cache_home: Option<OsString>, home: Option<OsString>) -> Option<PathBuf> {
    let xdg = xdg_cache_home.map(PathBuf::from).filter(|folder| folder.is_absolute());
    let home = home.map(PathBuf::from).filter(|home| home.is_absolute()).map(|home| home.join(".cache"));
    Some(xdg.or(home)?.join("onepull"))
}

/// A word that a flag accepts, its help, its value.
pub type Choice<T> = (&'static str, &'static str, T);

/// A parser that accepts the words of `choices` and yields their values.
pub fn choice<T>(choices: &'static [Choice<T>]) -> impl TypedValueParser<Value = T>
where
    T: Copy + Send + Sync + 'static,
{
    let words = choices.iter().map(|(word, help, _)| PossibleValue::new(*word).help(*help));
    PossibleValuesParser::new(words).map(|given| {
        let known = choices.iter().find(|(word, ..)| *word == given);
        known.expect("clap admits only the words of this table").2
    })
}

/// The file of `--plot`.
pub fn parse_plot(text: &str) -> Result<PathBuf, String> {
    let file = PathBuf::from(text);
    match Path::extension(&file) {
        Some(ending) if ending.eq_ignore_ascii_case("svg") => Ok(file),
        _ => Err("the name of a plot ends in .svg".into()),
    }
}

fn parse_memory(text: &str) -> Result<u64, String> {
    match quantity::bytes(text)? {
        bytes if bytes < LEAST_MEMORY => Err(format!("at least {} is needed", format::bytes(LEAST_MEMORY))),
        bytes => Ok(bytes),
    }
}

/// `N` or `P%`.
fn parse_max_errors(text: &str) -> Result<MaxErrors, String> {
    let legal = "write a count such as 100, or a percentage of the references such as 0.5%";
    match text.strip_suffix('%').map(quantity::decimal) {
        Some(Some(percent)) if percent <= 100.0 => Ok(MaxErrors::Percent(percent)),
        Some(Some(_)) => Err("a percentage is at most 100%".into()),
        None if text.bytes().all(|byte| byte.is_ascii_digit()) => {
            text.parse().map(MaxErrors::Count).map_err(|_| legal.into())
        }
        _ => Err(legal.into()),
    }
}

/// The flags of one command as its parser reads them.
#[cfg(test)]
pub fn parsed<F: clap::FromArgMatches + Args>(line: &[&str]) -> Result<F, clap::Error> {
    let command = F::augment_args(clap::Command::new("onepull").no_binary_name(true));
    F::from_arg_matches(&command.try_get_matches_from(line)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_has_a_floor() {
        assert!(parse_memory("1MB").unwrap_err().contains("16.0 MB"));
        assert_eq!(parse_memory("512M"), Ok(512_000_000));
    }

    #[test]
    fn max_errors_is_a_count_or_a_percentage() {
        assert_eq!(parse_max_errors("0"), Ok(MaxErrors::Count(0)));
        assert_eq!(parse_max_errors("12"), Ok(MaxErrors::Count(12)));
        assert_eq!(parse_max_errors("0.5%"), Ok(MaxErrors::Percent(0.5)));
        assert_eq!(parse_max_errors("100%"), Ok(MaxErrors::Percent(100.0)));
        let wrong = ["", "%", "-1", "+1", "1.5", "101%", "-1%", "nan%", "inf%", "1e2%", "5 %", "ten", ".%"];
        for text in wrong {
            assert!(parse_max_errors(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn a_plot_is_an_svg() {
        assert_eq!(parse_plot("a/b.SVG"), Ok("a/b.SVG".into()));
        for text in ["b.png", "svg", ".svg", "b.svg.gz", "b.html"] {
            assert!(parse_plot(text).is_err(), "{text}");
        }
    }

    #[test]
    fn the_cache_is_in_the_users_cache_folder() {
        let at =
            |xdg: Option<&str>, home: Option<&str>| user_cache(xdg.map(Into::into), home.map(Into::into));
        assert_eq!(at(Some("/x"), Some("/h")), Some("/x/onepull".into()));
        assert_eq!(at(None, Some("/h")), Some("/h/.cache/onepull".into()));
        assert_eq!(at(Some("relative"), Some("/h")), Some("/h/.cache/onepull".into()));
        assert_eq!(at(Some(""), Some("")), None);
    }
}
