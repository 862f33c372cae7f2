//! `onepull analyze` on the command line: its flags, what they mean, and the run.

use std::path::PathBuf;

use anyhow::bail;
use clap::Args;
use clap::builder::{PathBufValueParser, TypedValueParser as _};
use onepull::analysis::sampling::Share;
use onepull::commands::analyze::{self, Options, Placement, Timing};

use super::cache_folder::CacheFolder;
use super::console::Console;
use super::exit::{self, Exit};
use super::render::analyze as text;
use super::render::plot::{self, PlotFile};
use super::shared::{CountErrors, Shared};
use super::{machine, output};

/// The command, as it is typed.
const NAME: &str = "analyze";

/// What an interrupted run leaves behind.
pub const INTERRUPTED: &str = "there is no report, the same command starts again";

/// The same flag as that of other commands, but little use of it.
const CACHE_HELP: &str =
    "Folder in which --probe has its cache while it runs [default: onepull below the user's cache folder]";

pub const EXAMPLES: &str = "\
Examples:
  Is a cache worth it? How often images recur, and the best hit rate that any cache can have:
    onepull analyze manifests/

  What 8, 64 and 512 workers would lose with this corpus as it lies in its manifests:
    onepull analyze manifests/ --workers 8,64,512 --simulate

  A corpus of billions of references, one object in 180 counted, with intervals:
    onepull analyze corpus/ --sample 1/180

  Are the same bytes there under several names, and is the source faster than the cache?
    onepull analyze manifests/ --content-sample 1000 --probe

  Keep the counts, so that sizes of caches can be compared at once afterwards:
    onepull analyze manifests/ --save counts.parquet

  Numbers for a script, and a plot for the README:
    onepull analyze manifests/ --json --plot redundancy.svg > analysis.json";

/// Tell how redundant a corpus is: how often images recur, and what a cache would be worth
///
/// Counts the references of all manifests by object, exactly, in bounded memory, and reads no
/// payload unless asked to. The report holds the multiplicities (references per object) as a
/// histogram, the ceiling (the hit rate that no cache can pass: every object is read once), what
/// a cache of limited size reaches, and what is lost when several workers share a cache.
#[derive(Debug, Args)]
#[command(mut_arg("cache", |flag| flag.help_heading("Payloads").help(CACHE_HELP).long_help(CACHE_HELP)))]
pub struct Flags {
    /// Manifests: Parquet or JSONL files, or folders of them
    ///
    /// Folders are walked, files in them are taken in the order of their paths.
    #[arg(value_name = "MANIFEST", required = true)]
    manifests: Vec<PathBuf>,

    /// Count only this share of the objects: 1/180, 0.01 or 5% [default: all]
    ///
    /// Objects are chosen by a hash of their key, with all of their references, so the estimates
    /// are unbiased; the report says how far they may be off. Counting some of the rows or of the
    /// manifests instead would make a corpus look far less redundant than it is.
    #[arg(long, help_heading = "Counting", value_name = "SHARE", value_parser = parse_share)]
    sample: Option<Share>,

    /// Sources (hosts, buckets, folders) to list, most references first
    #[arg(long, help_heading = "Counting", value_name = "N", default_value_t = 10)]
    by_source: usize,

    /// Numbers of workers to tell the hit rate for, when they share a cache
    ///
    /// A worker takes one task after another. A task looks up all its references in the cache when
    /// it starts, and stores what it had to read when it ends: it does not find what tasks that run
    /// beside it are reading.
    #[arg(
        long,
        help_heading = "Concurrency",
        value_name = "W,W,...",
        value_delimiter = ',',
        default_value = "1,4,16,64,256",
        value_parser = parse_positive
    )]
    workers: Vec<u64>,

    /// Tasks that the corpus is cut into [default: one per manifest]
    #[arg(long, help_heading = "Concurrency", value_name = "N", value_parser = parse_positive)]
    tasks: Option<u64>,

    /// Replay the tasks over the references as they lie, beside the formula
    ///
    /// The formula takes the references of an object to lie anywhere. Where they lie close
    /// together, in one manifest or in neighbours, a replay tells what that changes. Its tasks are
    /// the manifests, in the order of their paths.
    #[arg(long, help_heading = "Concurrency", conflicts_with_all = ["sample", "tasks"])]
    simulate: bool,

    /// Read N objects and tell how many of them have the bytes of another one
    ///
    /// Duplicates that locators do not show: copies under several names.
    #[arg(long, help_heading = "Payloads", value_name = "N", default_value_t = 0)]
    content_sample: usize,

    /// Read some objects and time it, and the same payloads through a cache
    ///
    /// Tells whether a cache pays for these sources, or costs more than it saves. Its entries are
    /// removed again.
    #[arg(long, help_heading = "Payloads")]
    probe: bool,

    /// Folder that relative paths in locators start from [default: the folder of their manifest]
    #[arg(long, help_heading = "Payloads", value_name = "DIR")]
    root: Option<PathBuf>,

    /// Read no payload outside PREFIX; may be repeated [default: no limit]
    #[arg(long, help_heading = "Payloads", value_name = "PREFIX")]
    allow: Vec<PathBuf>,

    /// Keep the counts in FILE, for `onepull size --from FILE`
    ///
    /// A Parquet file with the columns references, bytes and objects: how many objects have so many
    /// references and so many bytes. The folder of FILE must exist. FILE appears complete or not at
    /// all, and replaces nothing but counts that were saved before.
    #[arg(long, help_heading = "Counting", value_name = "FILE", conflicts_with = "sample")]
    save: Option<PathBuf>,

    #[command(flatten)]
    cache: CacheFolder,

    /// Draw the histogram and the hit rate over the size of the cache: FILE.svg or FILE.html
    ///
    /// The folder of FILE must exist. The file appears complete or not at all, and replaces
    /// nothing but an earlier plot.
    #[arg(long, help_heading = "Plot", value_name = "FILE", value_parser = PathBufValueParser::new().try_map(plot::parse_file))]
    plot: Option<PlotFile>,

    #[command(flatten)]
    errors: CountErrors,

    #[command(flatten)]
    shared: Shared,
}

/// Runs the command; an error means that there is no report, or not all of what was asked for.
pub fn run(flags: &Flags) -> anyhow::Result<Exit> {
    let (jobs, remark) = flags.shared.jobs(machine::raise_open_files());
    let options = flags.options(jobs)?;
    output::check(
        &flags.shared,
        &[
            ("--plot", flags.plot.as_ref().map(|plot| &*plot.path), &plot::KIND),
            ("--save", flags.save.as_deref(), &output::TABLE),
        ],
    )?;

    let report = Console::watch(&flags.shared, remark, |console| analyze::run(&options, console))?;
    output::deliver(&flags.shared, &report, || {
        text::report(&report, flags.shared.detail(), output::columns())
    })?;
    if let Some(file) = &flags.plot {
        output::write_whole(&file.path, plot::analyze::draw(&report, file.form)?.as_bytes())?;
    }
    if let Some(why) = report.unwritten {
        bail!(why);
    }
    Ok(exit::judge(&report.errors, report.references, &report.unreadable, flags.errors.max_errors))
}

impl Flags {
    fn options(&self, jobs: usize) -> Result<Options, clap::Error> {
        let cache_dir = match self.cache.resolve(NAME) {
            // Only the probe needs one; where there is no home, everything else still works.
            Err(_) if !self.probe => PathBuf::new(),
            folder => folder?,
        };
        Ok(Options {
            sample: self.sample,
            sources: self.by_source,
            workers: self.workers.clone(),
            tasks: self.tasks,
            placement: if self.simulate { Placement::Replayed } else { Placement::Assumed },
            content_sample: self.content_sample,
            timing: if self.probe { Timing::Probed } else { Timing::Skipped },
            allow: self.allow.clone(),
            cache_dir,
            save: self.save.clone(),
            ..Options::counting(&self.manifests, self.root.as_deref(), jobs, self.shared.memory())
        })
    }
}

fn parse_share(text: &str) -> Result<Share, <Share as std::str::FromStr>::Err> {
    text.parse()
}

fn parse_positive(text: &str) -> Result<u64, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err("a whole number from 1 on is needed".into()),
        Ok(n) => Ok(n),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::cli::args::{Cli, Command};

    fn options(flags: &[&str]) -> Result<Options, clap::Error> {
        let line = ["onepull", "analyze", "in", "--cache", "cache"].iter().chain(flags);
        let Command::Analyze(flags) = Cli::try_parse_from(line)?.command else { unreachable!() };
        flags.options(3)
    }

    #[test]
    fn defaults_are_the_documented_ones() {
        let options = options(&[]).unwrap();
        assert_eq!(options.sample, None);
        assert_eq!(options.sources, 10);
        assert_eq!(options.workers, [1, 4, 16, 64, 256]);
        assert_eq!(options.tasks, None);
        assert_eq!(options.placement, Placement::Assumed);
        assert_eq!(options.content_sample, 0);
        assert_eq!(options.timing, Timing::Skipped);
        assert_eq!(options.jobs, 3);
    }

    #[test]
    fn a_sample_is_a_share() {
        let sample = |flags: &[&str]| options(flags).unwrap().sample.unwrap();
        assert_eq!(sample(&["--sample", "1/4"]), Share { share: 0.25 });
        assert_eq!(sample(&["--sample", "5%"]), Share { share: 0.05 });
    }

    #[test]
    fn workers_are_a_list_of_positive_numbers() {
        assert_eq!(options(&["--workers", "2,8"]).unwrap().workers, [2, 8]);
        for wrong in ["0", "", "1,", "1,x", "-1"] {
            assert_eq!(options(&[&format!("--workers={wrong}")]).unwrap_err().exit_code(), 2, "{wrong}");
        }
    }

    #[test]
    fn switches_are_what_they_say() {
        let replayed = options(&["--simulate", "--probe"]).unwrap();
        assert_eq!(replayed.placement, Placement::Replayed);
        assert_eq!(replayed.timing, Timing::Probed);
        assert_eq!(options(&["--tasks", "12"]).unwrap().tasks, Some(12));
        for other in [["--tasks", "12"], ["--sample", "1/2"]] {
            assert!(options(&["--simulate", other[0], other[1]]).is_err(), "{other:?}");
        }
    }

    #[test]
    fn the_counts_of_a_sample_are_not_kept_as_those_of_a_corpus() {
        assert_eq!(options(&["--save", "counts"]).unwrap().save, Some("counts".into()));
        assert_eq!(options(&["--save", "counts", "--sample", "1/2"]).unwrap_err().exit_code(), 2);
    }
}
