//! `onepull materialize` on the command line: its flags, what they mean, and the run.

use std::path::PathBuf;

use clap::Args;
use onepull::commands::materialize::{
    self, CacheLimit, CacheMode, CachePolicy, Compression, Existing, Format, ImageTokens, MaxErrors, OnError,
    Options, Outcome, StopAfter,
};

use super::args::usage;
use super::cache_folder::CacheFolder;
use super::choices::{self, parser};
use super::console::Console;
use super::exit::{self, Exit};
use super::shared::Shared;
use super::{bytes, machine, output, render};

/// The command, as it is typed.
const NAME: &str = "materialize";

/// What an interrupted run leaves behind.
pub const INTERRUPTED: &str = "what is finished stays, the same command goes on from here";

pub const EXAMPLES: &str = "\
Examples:
  Fill in the images of a folder of JSONL manifests, as WebDataset shards:
    onepull materialize manifests/ -o shards/

  See what would be read, without reading it:
    onepull materialize manifests/ --dry-run

  Parquet in, Parquet out, at most one reference in a thousand may fail:
    onepull materialize corpus.parquet -o out/ --max-errors 0.1% --report report.json

  Manifests from elsewhere: nothing outside one folder is read, failed rows are left out:
    onepull materialize *.jsonl -o out/ --root /data/images --allow /data/images --on-error drop-row";

/// Fill the references of manifests in: every row that names an image gets its bytes
///
/// Counts the references first and fetches afterwards, so that every distinct payload is read from
/// its source once, however many rows name it. One manifest gives one shard of the same name.
/// Finished shards and fetched payloads are kept and reused, so a run that was stopped goes on
/// where it stopped.
#[derive(Debug, Args)]
pub struct Flags {
    /// Manifests: Parquet or JSONL files, or folders of them
    ///
    /// Folders are walked, files in them are taken in the order of their paths.
    #[arg(value_name = "MANIFEST", required = true)]
    manifests: Vec<PathBuf>,

    /// Folder for the shards; required unless --dry-run is given
    #[arg(short, long, value_name = "DIR", help_heading = "Output")]
    output: Option<PathBuf>,

    /// Form of the shards [default: as the input; JSONL gives webdataset]
    #[arg(long, help_heading = "Output", value_name = "FORM", value_parser = parser(choices::FORMATS))]
    format: Option<Format>,

    /// Stop after the plan and print it
    #[arg(long, help_heading = "Output")]
    dry_run: bool,

    /// Write every shard again, also over files that onepull did not write
    ///
    /// Without it finished shards are reused, and files of others are refused.
    #[arg(long, help_heading = "Output")]
    overwrite: bool,

    /// Codec of Parquet columns; of payloads too where that saves a tenth
    #[arg(
        long,
        help_heading = "Output",
        value_name = "CODEC",
        default_value = "zstd",
        value_parser = parser(choices::COMPRESSIONS)
    )]
    compression: Compression,

    /// Payload per Parquet row group
    ///
    /// Sizes have a unit: 512kB, 100MB, 2GB are powers of 1000, 64MiB and 1.5GiB powers of 1024.
    #[arg(
        long,
        help_heading = "Output",
        value_name = "SIZE",
        default_value = "100MB",
        value_parser = parse_row_group_size
    )]
    row_group_size: u64,

    /// What stands for an image in a WebDataset sample
    #[arg(
        long,
        help_heading = "Output",
        value_name = "FORM",
        default_value = "member",
        value_parser = parser(choices::IMAGE_TOKENS)
    )]
    image_tokens: ImageTokens,

    /// Folder that relative paths in locators start from [default: the folder of their manifest]
    #[arg(long, help_heading = "Sources", value_name = "DIR")]
    root: Option<PathBuf>,

    /// Read nothing outside PREFIX; may be repeated [default: no limit]
    #[arg(long, help_heading = "Sources", value_name = "PREFIX")]
    allow: Vec<PathBuf>,

    #[command(flatten)]
    cache: CacheFolder,

    /// Which payloads go through the cache
    #[arg(
        long,
        help_heading = "Cache",
        value_name = "MODE",
        default_value = "always",
        value_parser = parser(choices::CACHE_MODES)
    )]
    cache_mode: CacheMode,

    /// Bytes that the cache may take [default: no limit]
    ///
    /// The objects to store are chosen from the counts before anything is fetched. All others are read
    /// once for each shard that needs them. Entries that are in the cache already stay there. `onepull
    /// size` shows what each limit gives.
    #[arg(long, help_heading = "Cache", value_name = "SIZE", value_parser = bytes::parse)]
    cache_limit: Option<u64>,

    /// Which objects a limited cache takes first
    #[arg(
        long,
        help_heading = "Cache",
        value_name = "POLICY",
        default_value = "density",
        requires = "cache_limit",
        value_parser = parser(choices::CACHE_POLICIES)
    )]
    cache_policy: CachePolicy,

    /// What becomes of a row whose payload cannot be had
    #[arg(
        long,
        help_heading = "Errors",
        value_name = "WHAT",
        default_value = "keep",
        value_parser = parser(choices::ON_ERROR)
    )]
    on_error: OnError,

    /// Errors to accept before the exit code is 3: a count, or a percentage of the references
    #[arg(
        long,
        help_heading = "Errors",
        value_name = "N|P%",
        default_value = "0",
        value_parser = choices::parse_max_errors
    )]
    max_errors: MaxErrors,

    #[command(flatten)]
    shared: Shared,
}

/// Runs the command; an error means that there is no report.
pub fn run(flags: &Flags) -> anyhow::Result<Exit> {
    let (jobs, remark) = flags.shared.jobs(machine::raise_open_files());
    let options = flags.options(jobs)?;
    output::check(&flags.shared, &[])?;

    let outcome = Console::watch(&flags.shared, remark, |console| materialize::run(&options, console))?;
    output::deliver(&flags.shared, &outcome, || {
        render::materialize::outcome(&outcome, options.output.as_deref(), flags.shared.detail())
    })?;
    let (errors, references, unreadable) = match &outcome {
        Outcome::Planned(plan) => (&plan.errors, plan.references, &plan.unreadable),
        Outcome::Done(report) => (&report.errors, report.references, &report.unreadable),
    };
    Ok(exit::judge(errors, references, unreadable, options.max_errors))
}

impl Flags {
    fn options(&self, jobs: usize) -> Result<Options, clap::Error> {
        if self.output.is_none() && !self.dry_run {
            return Err(usage(NAME, "-o/--output DIR is required unless --dry-run is given"));
        }
        if self.cache_limit.is_some() && self.cache_mode != CacheMode::Always {
            return Err(usage(NAME, "--cache-limit needs --cache-mode always"));
        }
        Ok(Options {
            manifests: self.manifests.clone(),
            output: self.output.clone(),
            format: self.format,
            cache_dir: self.cache.resolve(NAME)?,
            cache_mode: self.cache_mode,
            cache_limit: self.cache_limit.map(|bytes| CacheLimit { bytes, policy: self.cache_policy }),
            on_error: self.on_error,
            max_errors: self.max_errors,
            root: self.root.clone(),
            allow: self.allow.clone(),
            stop_after: if self.dry_run { StopAfter::Plan } else { StopAfter::Shards },
            existing: if self.overwrite { Existing::Overwrite } else { Existing::Keep },
            compression: self.compression,
            row_group_bytes: self.row_group_size,
            image_tokens: self.image_tokens,
            jobs,
            memory: self.shared.memory(),
        })
    }
}

/// A Parquet file has 32,767 row groups at most, and pages of less than 2 GiB.
const SMALLEST_ROW_GROUP: u64 = 1_000;
const LARGEST_ROW_GROUP: u64 = 1 << 30;

fn parse_row_group_size(text: &str) -> Result<u64, String> {
    match bytes::parse(text)? {
        bytes @ SMALLEST_ROW_GROUP..=LARGEST_ROW_GROUP => Ok(bytes),
        _ => Err("a row group holds between 1kB and 1GiB of payload".into()),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::cli::args::{Cli, Command};

    fn options(flags: &[&str]) -> Result<Options, clap::Error> {
        let line = ["onepull", "materialize", "in", "--cache", "cache"].iter().chain(flags);
        let Command::Materialize(flags) = Cli::try_parse_from(line)?.command else { unreachable!() };
        flags.options(3)
    }

    #[test]
    fn defaults_are_the_documented_ones() {
        let options = options(&["-o", "out"]).unwrap();
        assert_eq!(options.format, None);
        assert_eq!(options.cache_mode, CacheMode::Always);
        assert_eq!(options.on_error, OnError::Keep);
        assert_eq!(options.max_errors, MaxErrors::Count(0));
        assert_eq!(options.stop_after, StopAfter::Shards);
        assert_eq!(options.existing, Existing::Keep);
        assert_eq!(options.compression, Compression::Zstd);
        assert_eq!(options.row_group_bytes, 100_000_000);
        assert_eq!(options.image_tokens, ImageTokens::Member);
        assert_eq!(options.jobs, 3);
    }

    #[test]
    fn output_is_required_unless_the_run_is_dry() {
        let error = options(&[]).unwrap_err();
        assert_eq!(error.exit_code(), 2);
        assert!(error.to_string().contains("required unless --dry-run"), "{error}");
        assert_eq!(options(&["--dry-run"]).unwrap().stop_after, StopAfter::Plan);
    }

    #[test]
    fn a_limit_needs_a_cache_and_a_policy_a_limit() {
        for mode in ["never", "auto"] {
            let error = options(&["-o", "out", "--cache-limit", "2GB", "--cache-mode", mode]).unwrap_err();
            assert_eq!(error.exit_code(), 2);
            assert!(error.to_string().contains("--cache-mode always"), "{error}");
        }
        assert!(options(&["-o", "out", "--cache-policy", "count"]).is_err());
        let limit = |flags: &[&str]| options(&[&["-o", "out"], flags].concat()).unwrap().cache_limit;
        let expected = |policy| Some(CacheLimit { bytes: 2_000_000_000, policy });
        assert_eq!(limit(&["--cache-limit", "2GB"]), expected(CachePolicy::Density));
        let by_count = limit(&["--cache-limit", "2GB", "--cache-policy", "count"]);
        assert_eq!((by_count, limit(&[])), (expected(CachePolicy::Count), None));
    }

    #[test]
    fn allow_may_be_repeated() {
        let options = options(&["-o", "out", "--allow", "/a", "--allow", "/b"]).unwrap();
        assert_eq!(options.allow, [PathBuf::from("/a"), PathBuf::from("/b")]);
    }
}
