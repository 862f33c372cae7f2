//! `onepull materialize` on the command line: its flags, what they mean, and the run.

use std::path::PathBuf;

use clap::Args;
use onepull::commands::materialize::{
    self, CacheLimit, CacheMode, CachePolicy, Compression, Existing, Format, ImageTokens, OnError, Options,
    Outcome, StopAfter,
};
use onepull::commands::outputs::{self, Folders};

use super::args::{CacheFolder, Choice, Inputs, Shared, Tolerance, Usage, choice};
use super::exit::{self, Exit};
use super::{console, output, quantity, render, system};

/// What an interrupted run leaves behind.
pub const INTERRUPTED: &str = "finished shards and fetched images stay; run the same command to go on";

pub const EXAMPLES: &str = "\
Examples:
  Fill in the images of a folder of manifests:
    onepull materialize manifests/ -o shards/

  See what would be read, without reading it:
    onepull materialize manifests/ --dry-run

  Manifests from elsewhere: read nothing outside one folder, leave out rows that
  fail, and accept one error in a thousand references:
    onepull materialize *.jsonl -o out/ --root /data/images \\
        --allow /data/images --on-error drop-row --max-errors 0.1%";

/// Fill in the image references of a corpus
///
/// Counts the references first and fetches afterwards, so that each distinct image is read from
/// its source once, however many rows name it. Each manifest gives one shard of the same name.
/// Finished shards and fetched images are kept and reused, so an interrupted run goes on where it
/// stopped when the same command is run again.
#[derive(Debug, Args)]
#[command(override_usage = "onepull materialize [OPTIONS] -o <DIR> <MANIFEST>...\n       \
                            onepull materialize [OPTIONS] --dry-run <MANIFEST>...")]
pub struct MaterializeFlags {
    /// Folder for the shards; required unless --dry-run is given
    #[arg(short, long, value_name = "DIR", help_heading = "Output")]
    output: Option<PathBuf>,

    /// Format of the shards [default: that of the input; JSONL gives webdataset]
    #[arg(long, help_heading = "Output", value_name = "FORMAT", value_parser = choice(FORMATS))]
    format: Option<Format>,

    /// Print the plan and stop
    #[arg(long, help_heading = "Output")]
    dry_run: bool,

    /// Write every shard again, also over files that onepull did not write
    ///
    /// Without this flag finished shards are reused, and other files are never replaced.
    #[arg(long, help_heading = "Output")]
    overwrite: bool,

    /// Compression of Parquet columns
    ///
    /// Images are compressed only where that saves a tenth of their size.
    #[arg(long, help_heading = "Output", value_name = "CODEC", default_value = "zstd")]
    #[arg(value_parser = choice(COMPRESSIONS))]
    compression: Compression,

    /// Bytes of images in a Parquet row group
    ///
    /// Sizes such as 512k, 100MB and 2G are powers of 1000; 64MiB and 1.5Gi are powers of 1024.
    #[arg(long, help_heading = "Output", value_name = "SIZE", default_value = "100MB")]
    #[arg(value_parser = parse_row_group_size)]
    row_group_size: u64,

    /// What stands for an image in the JSON of a WebDataset sample
    #[arg(long, help_heading = "Output", value_name = "FORM", default_value = "member")]
    #[arg(value_parser = choice(IMAGE_TOKENS))]
    image_tokens: ImageTokens,

    #[command(flatten)]
    inputs: Inputs,

    #[command(flatten)]
    cache: CacheFolder,

    /// Which images go through the cache
    #[arg(long, help_heading = "Cache", value_name = "MODE", default_value = "always")]
    #[arg(value_parser = choice(CACHE_MODES))]
    cache_mode: CacheMode,

    /// Bytes that the cache may take [default: no limit]
    ///
    /// The images to store are chosen from the counts, before anything is fetched. The others are
    /// read once for each shard that needs them. Entries that are already in the cache stay there.
    /// `onepull size` shows what each limit gives.
    #[arg(long, help_heading = "Cache", value_name = "SIZE", value_parser = quantity::bytes)]
    cache_limit: Option<u64>,

    /// Which images a limited cache takes first
    #[arg(long, help_heading = "Cache", value_name = "POLICY", default_value = "density")]
    #[arg(requires = "cache_limit", value_parser = choice(CACHE_POLICIES))]
    cache_policy: CachePolicy,

    /// What to do with a row whose image cannot be fetched
    #[arg(long, help_heading = "Errors", value_name = "ACTION", default_value = "keep")]
    #[arg(value_parser = choice(ON_ERROR))]
    on_error: OnError,

    #[command(flatten)]
    tolerance: Tolerance,

    #[command(flatten)]
    shared: Shared,
}

const FORMATS: &[Choice<Format>] = &[
    ("parquet", "Rows with the image in `binary_content`", Format::Parquet),
    ("webdataset", "Tar files, one group of members for each sample", Format::WebDataset),
];

const COMPRESSIONS: &[Choice<Compression>] = &[
    ("zstd", "Smallest", Compression::Zstd),
    ("snappy", "Fast", Compression::Snappy),
    ("lz4", "Fast", Compression::Lz4),
    ("none", "Not compressed", Compression::None),
];

const IMAGE_TOKENS: &[Choice<ImageTokens>] = &[
    ("member", "The full name of the member", ImageTokens::Member),
    ("part", "The part of that name after its first dot", ImageTokens::Part),
];

const CACHE_MODES: &[Choice<CacheMode>] = &[
    ("always", "All: each image is read from its source once and kept", CacheMode::Always),
    ("auto", "All, unless reading the source is faster than the cache", CacheMode::Auto),
    ("never", "None: images are read when a row needs them", CacheMode::Never),
];

const CACHE_POLICIES: &[Choice<CachePolicy>] = &[
    ("density", "Those that save the most reads for their size", CachePolicy::Density),
    ("count", "Those with the most references", CachePolicy::Count),
];

const ON_ERROR: &[Choice<OnError>] = &[
    ("fail", "Stop the run", OnError::Fail),
    ("keep", "Keep it without an image; `materialize_error` says why", OnError::Keep),
    ("drop-row", "Leave it out", OnError::DropRow),
    ("drop-sample", "Leave out all rows of its sample", OnError::DropSample),
];

/// Runs the command; an error means that there is no report.
pub fn run(flags: &MaterializeFlags) -> anyhow::Result<Exit> {
    let (jobs, remark) = flags.shared.jobs(system::raise_open_files());
    let named = output::named(&flags.shared, None, None);
    let options = Options { outputs: outputs::places(&named), ..flags.options(jobs)? };
    let folders = Folders { cache: Some(&options.cache_dir), output: options.output.as_deref() };
    outputs::check(&named, &options.manifests, folders)?;

    let outcome = console::watch(&flags.shared, remark, |screen| materialize::run(&options, screen))?;
    output::deliver(&flags.shared, &outcome, || {
        let folder = options.output.as_deref();
        render::materialize::outcome(&outcome, folder, flags.shared.detail(), output::columns())
    })?;
    let (errors, references, unreadable) = match &outcome {
        Outcome::Planned(plan) => (&plan.errors, plan.references, &plan.unreadable),
        Outcome::Done(report) => (&report.errors, report.references, &report.unreadable),
    };
    Ok(exit::judge(errors, references, unreadable, options.max_errors))
}

impl MaterializeFlags {
    fn options(&self, jobs: usize) -> Result<Options, Usage> {
        if self.output.is_none() && !self.dry_run {
            return Err(Usage("-o/--output DIR is required unless --dry-run is given".into()));
        }
        if self.cache_limit.is_some() && self.cache_mode != CacheMode::Always {
            return Err(Usage("--cache-limit needs --cache-mode always".into()));
        }
        Ok(Options {
            manifests: self.inputs.manifests.clone(),
            output: self.output.clone(),
            format: self.format,
            cache_dir: self.cache.resolve()?,
            cache_mode: self.cache_mode,
            cache_limit: self.cache_limit.map(|bytes| CacheLimit { bytes, policy: self.cache_policy }),
            on_error: self.on_error,
            max_errors: self.tolerance.max_errors,
            root: self.inputs.root.clone(),
            allow: self.inputs.allow.clone(),
            outputs: Vec::new(),
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
    match quantity::bytes(text)? {
        bytes @ SMALLEST_ROW_GROUP..=LARGEST_ROW_GROUP => Ok(bytes),
        _ => Err("a row group holds between 1kB and 1GiB of images".into()),
    }
}

#[cfg(test)]
mod tests {
    use onepull::commands::materialize::MaxErrors;

    use super::*;
    use crate::cli::args::parsed;

    fn options(flags: &[&str]) -> anyhow::Result<Options> {
        Ok(parsed::<MaterializeFlags>(&[&["in", "--cache", "cache"], flags].concat())?.options(3)?)
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
        assert!(options(&[]).unwrap_err().to_string().contains("required unless --dry-run"));
        assert_eq!(options(&["--dry-run"]).unwrap().stop_after, StopAfter::Plan);
    }

    #[test]
    fn a_limit_needs_a_cache_and_a_policy_a_limit() {
        for mode in ["never", "auto"] {
            let error = options(&["-o", "out", "--cache-limit", "2GB", "--cache-mode", mode]).unwrap_err();
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
