//! The flags that commands share, and what they mean.

use std::path::PathBuf;

use clap::Args;
use onepull::commands::materialize::MaxErrors;

use super::choices::{self, Progress};
use super::{bytes, machine};

/// Flags of every command.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Machine and report")]
pub struct Shared {
    /// Threads to work with [default: cores]
    ///
    /// The default is the number of cores this process may use. Lowered where the limit of open
    /// files asks for it. The result is the same at any number.
    #[arg(short, long, value_name = "N", value_parser = parse_jobs)]
    jobs: Option<usize>,

    /// Bound on memory [default: half of what is free]
    ///
    /// At least 16MB, as 512MB or 2GiB. Counting references beyond it spills to temporary files.
    /// The default is half of the memory that is free, or that the control group leaves.
    #[arg(long, value_name = "SIZE", value_parser = parse_memory)]
    memory: Option<u64>,

    /// Print the report as one JSON object on stdout, and nothing else there
    #[arg(long)]
    pub json: bool,

    /// Write the report as JSON to FILE as well
    ///
    /// The folder of FILE must exist. The file appears complete or not at all.
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,

    /// How progress is shown on stderr
    #[arg(
        long,
        value_name = "HOW",
        default_value = "auto",
        value_parser = choices::parser(choices::PROGRESS)
    )]
    pub progress: Progress,

    /// Show no progress; problems and the report still appear
    #[arg(short, long, conflicts_with = "verbose")]
    pub quiet: bool,

    /// Print every problem, and a report in full
    #[arg(short, long)]
    verbose: bool,
}

/// The flag of commands that only count.
#[derive(Clone, Debug, Args)]
pub struct CountErrors {
    /// Errors to accept before the exit code is 3: a count, or a percentage of the references
    ///
    /// An error is a line that is no row, or a locator that cannot be understood: what it stands
    /// for is missing from the numbers.
    #[arg(
        long,
        help_heading = "Errors",
        value_name = "N|P%",
        default_value = "0",
        value_parser = choices::parse_max_errors
    )]
    pub max_errors: MaxErrors,
}

/// How much of what could be said is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    Usual,
    /// Every problem, every shard, every budget.
    Full,
}

impl Shared {
    /// Threads to use when `open_files` descriptors may be open, and a remark if that is fewer
    /// than asked for.
    pub fn jobs(&self, open_files: u64) -> (usize, Option<String>) {
        let most = machine::jobs_for(open_files);
        match self.jobs {
            Some(asked) if asked > most => {
                let remark = format!(
                    "the limit of {open_files} open files leaves room for {most} jobs, not {asked}; \
                     raise it with `ulimit -n`"
                );
                (most, Some(remark))
            }
            Some(asked) => (asked, None),
            None => (machine::cores().min(most), None),
        }
    }

    pub fn detail(&self) -> Detail {
        if self.verbose { Detail::Full } else { Detail::Usual }
    }

    /// Bytes of memory to stay under.
    pub fn memory(&self) -> u64 {
        self.memory.unwrap_or_else(machine::default_memory).max(LEAST_MEMORY)
    }
}

/// Less memory than this is not worth a promise.
const LEAST_MEMORY: u64 = 16_000_000;

fn parse_jobs(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err("a whole number from 1 on is needed".into()),
        Ok(jobs) => Ok(jobs),
    }
}

fn parse_memory(text: &str) -> Result<u64, String> {
    match bytes::parse(text)? {
        bytes if bytes < LEAST_MEMORY => Err(format!("at least {} is needed", bytes::show(LEAST_MEMORY))),
        bytes => Ok(bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_start_at_one() {
        assert!(parse_jobs("0").is_err());
        assert!(parse_jobs("-1").is_err());
        assert_eq!(parse_jobs("8"), Ok(8));
    }

    #[test]
    fn memory_has_a_floor() {
        assert!(parse_memory("1MB").unwrap_err().contains("16.0 MB"));
        assert_eq!(parse_memory("512MB"), Ok(512_000_000));
    }
}
