//! Reads the references of all manifests and groups them by object.

use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::fmt;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::ScopedJoinHandle;

use anyhow::Context;

use super::failures::Refused;
use super::inputs::Input;
use crate::commands::Unreadable;
use crate::corpus::read::{self, Piece};
use crate::corpus::rows::{Columns, Need, Rows};
use crate::fault::{Class, Fault};
use crate::grouping::{Grouper, Groups, Inserter};
use crate::monitor::{Interrupted, Monitor, Phase};

/// What the rows of a manifest are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Rows and lines that should have been rows.
    pub rows: u64,
    pub references: u64,
    pub no_locator: u64,
    pub already_present: u64,
    /// Rows that cannot be understood, by class.
    pub bad_rows: u64,
    pub bad_locators: BTreeMap<Class, u64>,
}

impl Tally {
    pub fn bad_locator(&self) -> u64 {
        self.bad_locators.values().sum()
    }

    fn add(&mut self, other: &Tally) {
        self.rows += other.rows;
        self.references += other.references;
        self.no_locator += other.no_locator;
        self.already_present += other.already_present;
        self.bad_rows += other.bad_rows;
        for (class, count) in &other.bad_locators {
            *self.bad_locators.entry(*class).or_default() += count;
        }
    }
}

/// The references of a run, not yet counted.
pub struct References {
    tallies: Vec<Option<Tally>>,
    unreadable: Vec<Unreadable>,
    grouper: Grouper,
}

/// The objects of a run.
pub struct Scanned {
    /// One for each input; `None` where reading failed.
    pub tallies: Vec<Option<Tally>>,
    pub unreadable: Vec<Unreadable>,
    pub groups: Groups,
}

/// How to scan.
pub struct Settings<'a> {
    pub jobs: usize,
    pub memory: u64,
    /// Whether the references of an input are still to be served, by input.
    pub wanted: &'a [bool],
    /// Called with each row that has a fault and its place; an error ends the run.
    pub on_fault: &'a (dyn Fn(&Input, &str, &Fault) -> anyhow::Result<()> + Sync),
}

/// Scans all inputs. One that cannot be read to its end counts for nothing: the others are then
/// scanned again without it.
pub fn scan(inputs: &[Input], settings: &Settings, monitor: &dyn Monitor) -> anyhow::Result<References> {
    let mut unreadable: BTreeMap<usize, anyhow::Error> = BTreeMap::new();
    loop {
        let pass = Pass {
            inputs,
            settings,
            monitor,
            grouper: Grouper::new(settings.memory / 2),
            tallies: Mutex::new(vec![Tally::default(); inputs.len()]),
            failed: Mutex::new(BTreeMap::new()),
            repeated: !unreadable.is_empty(),
        };
        pass.run(|input| !unreadable.contains_key(&input))?;
        let Pass { grouper, tallies, failed, .. } = pass;
        let failed = failed.into_inner();
        if !failed.is_empty() {
            unreadable.extend(failed);
            continue;
        }
        let tallies = tallies.into_inner();
        let tallies = tallies.into_iter().enumerate();
        return Ok(References {
            tallies: tallies.map(|(at, tally)| (!unreadable.contains_key(&at)).then_some(tally)).collect(),
            unreadable: unreadable
                .iter()
                .map(|(at, e)| Unreadable::new(&inputs[*at].manifest.path, e))
                .collect(),
            grouper,
        });
    }
}

impl References {
    /// Counts the references of each object, on the threads of `pool`.
    pub fn group(self, pool: &rayon::ThreadPool, monitor: &dyn Monitor) -> anyhow::Result<Scanned> {
        monitor.check()?;
        let groups = pool.install(|| self.grouper.finish()).context("cannot group the references")?;
        Ok(Scanned { tallies: self.tallies, unreadable: self.unreadable, groups })
    }
}

/// References could not be moved out of memory.
#[derive(Debug)]
struct SpillFailed(std::io::Error);

impl fmt::Display for SpillFailed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("cannot group the references")
    }
}

impl std::error::Error for SpillFailed {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.0)
    }
}

/// One reading of all inputs.
struct Pass<'a> {
    inputs: &'a [Input],
    settings: &'a Settings<'a>,
    monitor: &'a dyn Monitor,
    grouper: Grouper,
    tallies: Mutex<Vec<Tally>>,
    failed: Mutex<BTreeMap<usize, anyhow::Error>>,
    /// Faults were told before.
    repeated: bool,
}

impl Pass<'_> {
    fn run(&self, readable: impl Fn(usize) -> bool) -> anyhow::Result<()> {
        let mut pieces: Vec<(usize, Piece, u64)> = Vec::new();
        for (at, input) in self.inputs.iter().enumerate().filter(|(at, _)| readable(*at)) {
            let count = input.outline.pieces.len() as u64;
            for (nth, piece) in input.outline.pieces.iter().enumerate() {
                let share = input.outline.bytes / count + u64::from(nth == 0) * (input.outline.bytes % count);
                pieces.push((at, *piece, share));
            }
        }
        self.monitor.start(Phase::Scan, pieces.iter().map(|(_, _, bytes)| bytes).sum());
        let next = AtomicUsize::new(0);
        let threads = self.settings.jobs.min(pieces.len()).max(1);
        let worker = || -> anyhow::Result<()> {
            let mut inserter = self.grouper.inserter();
            while let Some((at, piece, bytes)) = pieces.get(next.fetch_add(1, Ordering::Relaxed)) {
                // After an error the other threads need not begin another piece.
                let stop = |_: &anyhow::Error| next.store(pieces.len(), Ordering::Relaxed);
                self.piece(*at, *piece, &mut inserter).inspect_err(stop)?;
                self.monitor.advance(Phase::Scan, *bytes, 0);
            }
            inserter.finish().context("cannot group the references")
        };
        std::thread::scope(|scope| {
            let workers: Vec<_> = (0..threads).map(|_| scope.spawn(worker)).collect();
            let join =
                |worker: ScopedJoinHandle<'_, _>| worker.join().unwrap_or_else(|panic| resume_unwind(panic));
            let ended: Vec<anyhow::Result<()>> = workers.into_iter().map(join).collect();
            ended.into_iter().collect::<anyhow::Result<()>>()
        })?;
        self.monitor.finish(Phase::Scan);
        Ok(())
    }

    /// Scans a piece of one input; what is wrong with the manifest is kept, other errors end the
    /// run.
    fn piece(&self, at: usize, piece: Piece, inserter: &mut Inserter) -> anyhow::Result<()> {
        let input = &self.inputs[at];
        let mut tally = Tally::default();
        let mut fatal = None;
        let each = &mut |rows: Rows| {
            let done = self.monitor.check().and_then(|()| self.rows(at, &rows, inserter, &mut tally));
            done.map_err(|error| {
                if !(error.is::<Interrupted>() || error.is::<Refused>() || error.is::<SpillFailed>()) {
                    return error.context(input.manifest.path.display().to_string());
                }
                fatal = Some(error);
                anyhow::anyhow!("stopped")
            })
        };
        let read = read::read(&input.manifest, input.outline.kind, piece, Columns::References, each);
        match (fatal, read) {
            (Some(error), _) => return Err(error),
            (None, Err(error)) => {
                let mut failed = self.failed.lock();
                failed.entry(at).or_insert(error);
            }
            (None, Ok(())) => {
                self.tallies.lock()[at].add(&tally);
            }
        }
        Ok(())
    }

    fn rows(&self, at: usize, rows: &Rows, inserter: &mut Inserter, tally: &mut Tally) -> anyhow::Result<()> {
        let input = &self.inputs[at];
        let wanted = self.settings.wanted[at];
        let told = |place: &str, fault: &Fault| {
            if self.repeated { Ok(()) } else { (self.settings.on_fault)(input, place, fault) }
        };
        tally.rows += (rows.len() + rows.bad.len()) as u64;
        tally.bad_rows += rows.bad.len() as u64;
        for bad in &rows.bad {
            told(&format!("line {}", bad.line), &bad.fault)?;
        }
        let mut canonical = Vec::new();
        rows.needs(|row, need| {
            let fault = match need {
                Need::Nothing => return Ok(()),
                Need::Present => {
                    tally.already_present += 1;
                    return Ok(());
                }
                Need::NoLocator => {
                    tally.no_locator += 1;
                    return Ok(());
                }
                Need::BadLocator(fault) => fault,
                Need::Payload(locator) => match input.base.resolve(&locator, &mut canonical) {
                    Ok(()) => {
                        tally.references += 1;
                        inserter.add(&canonical, wanted).map_err(SpillFailed)?;
                        return Ok(());
                    }
                    Err(fault) => fault,
                },
            };
            *tally.bad_locators.entry(fault.class).or_default() += 1;
            told(&rows.places.name(row), &fault)
        })
    }
}
