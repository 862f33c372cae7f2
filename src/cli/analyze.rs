//! `onepull analyze` on the command line: its flags, what they mean, and the run.

use std::path::PathBuf;

use anyhow::bail;
use clap::Args;
use onepull::commands::analyze::{self, Options, Share};
use onepull::commands::outputs::{self, Folders};

use super::args::{CacheFolder, Inputs, Shared, Tolerance, Usage, parse_plot};
use super::exit::{self, Exit};
use super::{console, output, quantity, render, system};

/// What an interrupted run leaves behind.
pub const INTERRUPTED: &str = "there is no report; run the same command to start again";

const CACHE_HELP: &str = "Folder for the temporary cache of --probe [default: as for materialize]";

pub const EXAMPLES: &str = "\
Examples:
  See how often images repeat, and the best hit rate that a cache can reach:
    onepull analyze manifests/

  See what 8, 64 and 512 workers lose when they share a cache as they go:
    onepull analyze manifests/ --workers 8,64,512 --simulate

  Save the counts, to compare cache sizes later, and plot them:
    onepull analyze manifests/ --save counts.parquet --plot counts.svg";

/// Show how often a corpus repeats its images, and what a cache would save
///
/// Counts the references of all manifests by object, exactly and in bounded memory, and reads no
/// image unless asked to. The report shows how many objects have how many references, the best
/// hit rate that any cache can reach (the ceiling), what caches of limited size reach, and what
/// is lost when several workers share a cache.
#[derive(Debug, Args)]
#[command(
    override_usage = "onepull analyze [OPTIONS] <MANIFEST>...",
    mut_arg("cache", |flag| flag.help_heading("Images").help(CACHE_HELP).long_help(CACHE_HELP))
)]
pub struct AnalyzeFlags {
    /// Count only this share of the objects: 1/180, 0.01 or 5% [default: all]
    ///
    /// Objects are chosen by a hash of their name and counted with all of their references, so
    /// the estimates are unbiased. The report says how far off they may be. A sample of rows or
    /// of manifests would make a corpus look far less repetitive than it is.
    #[arg(long, help_heading = "Counting", value_name = "SHARE", value_parser = parse_share)]
    sample: Option<Share>,

    /// How many sources (hosts, buckets, folders) to list, most references first
    #[arg(long, help_heading = "Counting", value_name = "N", default_value_t = 10)]
    by_source: usize,

    /// Save the counts to FILE, as Parquet, for `onepull size --from FILE`
    ///
    /// The columns references, bytes and objects say how many objects have so many references and
    /// so many bytes. The folder of FILE must exist. FILE is replaced whole or not at all.
    #[arg(long, help_heading = "Counting", value_name = "FILE", conflicts_with = "sample")]
    save: Option<PathBuf>,

    /// Numbers of workers to show the hit rate for
    ///
    /// Workers share a cache and take one task after another. A task looks up all its references
    /// when it starts and stores what it read when it ends, so it does not find what other tasks
    /// are reading at the same time.
    #[arg(long, help_heading = "Concurrency", value_name = "W,W,...", value_parser = quantity::positive)]
    #[arg(value_delimiter = ',', default_value = "1,4,16,64,256")]
    workers: Vec<u64>,

    /// Number of tasks that the corpus is cut into [default: one per manifest]
    #[arg(long, help_heading = "Concurrency", value_name = "N", value_parser = quantity::positive)]
    tasks: Option<u64>,

    /// Also replay the tasks over the references as they lie in the manifests
    ///
    /// The formula assumes that the references of an object lie anywhere. A replay shows what
    /// changes where they lie close together. Its tasks are the manifests, ordered by path.
    #[arg(long, help_heading = "Concurrency", conflicts_with_all = ["sample", "tasks"])]
    simulate: bool,

    /// Read N objects and show how many have the same bytes as another one
    ///
    /// Finds what locators do not show: copies of one image under several names.
    #[arg(long, help_heading = "Images", value_name = "N", default_value_t = 0)]
    content_sample: usize,

    /// Read some objects, and time the source against a cache
    ///
    /// Shows whether a cache pays for these sources, or costs more than it saves. The entries are
    /// removed afterwards.
    #[arg(long, help_heading = "Images")]
    probe: bool,

    #[command(flatten)]
    inputs: Inputs,

    #[command(flatten)]
    cache: CacheFolder,

    /// Draw the histogram, and the hit rate for each cache size, as FILE.svg
    ///
    /// The folder of FILE must exist. FILE is replaced whole or not at all.
    #[arg(long, help_heading = "Plot", value_name = "FILE", value_parser = parse_plot)]
    plot: Option<PathBuf>,

    #[command(flatten)]
    tolerance: Tolerance,

    #[command(flatten)]
    shared: Shared,
}

/// Runs the command; an error means that there is no report, or not all of what was asked for.
pub fn run(flags: &AnalyzeFlags) -> anyhow::Result<Exit> {
    let (jobs, remark) = flags.shared.jobs(system::raise_open_files());
    let named = output::named(&flags.shared, flags.plot.as_deref(), flags.save.as_deref());
    let options = Options { outputs: outputs::places(&named), ..flags.options(jobs)? };
    let cache = flags.probe.then_some(&*options.cache_dir);
    outputs::check(&named, &options.manifests, Folders { cache, output: None })?;

    let report = console::watch(&flags.shared, remark, |screen| analyze::run(&options, screen))?;
    output::deliver(&flags.shared, &report, || {
        render::analyze::report(&report, flags.shared.detail(), output::columns())
    })?;
    if let Some(file) = &flags.plot {
        outputs::write_text(file, &render::plot::analyze(&report)?)?;
    }
    if let Some(why) = report.unwritten {
        bail!(why);
    }
    Ok(exit::judge(&report.errors, report.references, &report.unreadable, flags.tolerance.max_errors))
}

impl AnalyzeFlags {
    fn options(&self, jobs: usize) -> Result<Options, Usage> {
        let cache_dir = match self.cache.resolve() {
            // Only the probe needs one; where there is no home, everything else still works.
            Err(_) if !self.probe => PathBuf::new(),
            folder => folder?,
        };
        Ok(Options {
            sample: self.sample,
            sources: self.by_source,
            workers: self.workers.clone(),
            tasks: self.tasks,
            simulate: self.simulate,
            content_sample: self.content_sample,
            probe: self.probe,
            allow: self.inputs.allow.clone(),
            cache_dir,
            save: self.save.clone(),
            ..Options::counting(
                &self.inputs.manifests,
                self.inputs.root.as_deref(),
                jobs,
                self.shared.memory(),
            )
        })
    }
}

fn parse_share(text: &str) -> Result<Share, <Share as std::str::FromStr>::Err> {
    text.parse()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::args::parsed;

    fn options(flags: &[&str]) -> anyhow::Result<Options> {
        Ok(parsed::<AnalyzeFlags>(&[&["in", "--cache", "cache"], flags].concat())?.options(3)?)
    }

    #[test]
    fn defaults_are_the_documented_ones() {
        let options = options(&[]).unwrap();
        assert_eq!(options.sample, None);
        assert_eq!(options.sources, 10);
        assert_eq!(options.workers, [1, 4, 16, 64, 256]);
        assert_eq!(options.tasks, None);
        assert!(!options.simulate);
        assert_eq!(options.content_sample, 0);
        assert!(!options.probe);
        assert_eq!(options.jobs, 3);
    }

    #[test]
    fn a_sample_is_a_share() {
        let sample = |share: &str| options(&["--sample", share]).unwrap().sample.unwrap().share;
        assert_eq!((sample("1/4"), sample("5%")), (0.25, 0.05));
    }

    #[test]
    fn workers_are_a_list_of_positive_numbers() {
        assert_eq!(options(&["--workers", "2,8"]).unwrap().workers, [2, 8]);
        for wrong in ["0", "", "1,", "1,x", "-1"] {
            assert!(options(&[&format!("--workers={wrong}")]).is_err(), "{wrong}");
        }
    }

    #[test]
    fn switches_are_what_they_say() {
        let replayed = options(&["--simulate", "--probe"]).unwrap();
        assert!(replayed.simulate);
        assert!(replayed.probe);
        assert_eq!(options(&["--tasks", "12"]).unwrap().tasks, Some(12));
        for other in [["--tasks", "12"], ["--sample", "1/2"]] {
            assert!(options(&["--simulate", other[0], other[1]]).is_err(), "{other:?}");
        }
    }

    #[test]
    fn the_counts_of_a_sample_are_not_saved_as_those_of_a_corpus() {
        assert_eq!(options(&["--save", "counts"]).unwrap().save, Some("counts".into()));
        assert!(options(&["--save", "counts", "--sample", "1/2"]).is_err());
    }
}
