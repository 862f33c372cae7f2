//! Reads the rows of all manifests on several threads.
//!
//! What becomes of the rows is up to a [`Collector`]. A manifest that cannot be read to its end
//! counts for nothing: the others are then read again, by a new collector, without it.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};

use parking_lot::Mutex;

use super::Unreadable;
use crate::manifest::discover::Manifest;
use crate::manifest::rows::{Columns, Rows};
use crate::manifest::{self, Outline, Piece, Readable};
use crate::monitor::{Monitor, Phase};
use crate::threads::in_turns;

/// A manifest to read.
#[derive(Clone, Copy)]
pub struct Input<'a> {
    pub manifest: &'a Manifest,
    pub outline: &'a Outline,
}

/// Why rows were not taken.
pub enum Stop {
    /// The manifest is at fault: it is left out.
    Manifest(anyhow::Error),
    /// The run ends.
    Run(anyhow::Error),
}

/// Takes rows in, from several threads.
pub trait Collector: Sync {
    /// What one thread keeps to itself.
    type Worker<'a>
    where
        Self: 'a;

    fn worker(&self) -> Self::Worker<'_>;

    /// Takes some rows of the manifest at `input`. All rows of one piece come to one worker, in
    /// order.
    fn rows(&self, worker: &mut Self::Worker<'_>, input: usize, rows: &Rows) -> Result<(), Stop>;

    /// A thread is done.
    fn finish(&self, worker: Self::Worker<'_>) -> anyhow::Result<()>;
}

/// What was read.
pub struct Scanned<C> {
    pub collector: C,
    /// By the number of the input, ascending.
    pub unreadable: BTreeMap<usize, Unreadable>,
}

/// Reads all inputs with `jobs` threads. `collector` is called with the number of the reading,
/// from 0, and makes an empty collector for it.
///
/// Fails when a collector stops the run, or the monitor does.
pub fn scan<C: Collector>(
    inputs: &[Input],
    jobs: usize,
    monitor: &dyn Monitor,
    collector: impl Fn(usize) -> C,
) -> anyhow::Result<Scanned<C>> {
    let mut unreadable = BTreeMap::new();
    for reading in 0.. {
        let pass = Pass {
            inputs,
            monitor,
            collector: collector(reading),
            open: inputs.iter().map(|_| Mutex::default()).collect(),
            failed: Mutex::default(),
        };
        pass.run(jobs, |input| !unreadable.contains_key(&input))?;
        let failed = pass.failed.into_inner();
        if failed.is_empty() {
            return Ok(Scanned { collector: pass.collector, unreadable });
        }
        let named = |(at, (_, error)): (usize, (usize, anyhow::Error))| {
            let manifest: &Manifest = inputs[at].manifest;
            (at, Unreadable::new(&manifest.path, &error))
        };
        unreadable.extend(failed.into_iter().map(named));
    }
    unreachable!("every reading leaves out one manifest more, or is the last");
}

/// One reading of all inputs.
struct Pass<'a, C> {
    inputs: &'a [Input<'a>],
    monitor: &'a dyn Monitor,
    collector: C,
    /// By input: what its pieces share, while a thread reads one of them.
    open: Vec<Mutex<Weak<Readable<'a>>>>,
    /// By input: the first piece that could not be read, and why.
    failed: Mutex<BTreeMap<usize, (usize, anyhow::Error)>>,
}

/// The manifest that a thread reads, by its input.
type Held<'a> = Option<(usize, Arc<Readable<'a>>)>;

impl<'a, C: Collector> Pass<'a, C> {
    fn run(&self, jobs: usize, readable: impl Fn(usize) -> bool) -> anyhow::Result<()> {
        let mut pieces: Vec<(usize, Piece, u64)> = Vec::new();
        for (at, input) in self.inputs.iter().enumerate().filter(|(at, _)| readable(*at)) {
            let count = input.outline.pieces.len() as u64;
            for (nth, piece) in input.outline.pieces.iter().enumerate() {
                let share = input.outline.bytes / count + u64::from(nth == 0) * (input.outline.bytes % count);
                pieces.push((at, *piece, share));
            }
        }
        self.monitor.start(Phase::Scan, pieces.iter().map(|(_, _, bytes)| bytes).sum());
        in_turns(jobs.min(pieces.len()), pieces.len(), |turns| -> anyhow::Result<()> {
            let (mut worker, mut held) = (self.collector.worker(), None);
            for nth in turns {
                let (at, piece, bytes) = pieces[nth];
                self.piece(at, (nth, piece), &mut held, &mut worker)?;
                self.monitor.advance(Phase::Scan, bytes, 0);
            }
            self.collector.finish(worker)
        })?;
        self.monitor.finish(Phase::Scan);
        Ok(())
    }

    /// Reads a piece of one input; what is wrong with the manifest is kept, other errors end the
    /// run. Pieces are numbered, so that what is kept is the error of the first, at any number of
    /// threads.
    fn piece(
        &self,
        at: usize,
        (nth, piece): (usize, Piece),
        held: &mut Held<'a>,
        worker: &mut C::Worker<'_>,
    ) -> anyhow::Result<()> {
        if self.failed.lock().get(&at).is_some_and(|(first, _)| *first < nth) {
            return Ok(());
        }
        let Input { manifest, outline } = self.inputs[at];
        let mut fatal = None;
        let each = &mut |rows: Rows| {
            let taken = self.monitor.check().map_err(Stop::Run);
            match taken.and_then(|()| self.collector.rows(worker, at, &rows)) {
                Ok(()) => Ok(()),
                Err(Stop::Manifest(error)) => Err(error.context(manifest.path.display().to_string())),
                Err(Stop::Run(error)) => {
                    fatal = Some(error);
                    Err(anyhow::anyhow!("stopped"))
                }
            }
        };
        let read = self.open(at, held).and_then(|manifest| manifest.read(piece, each));
        if let Some(error) = fatal {
            return Err(error);
        }
        // Of a file that changed, rows of both states may have been taken.
        if let Err(error) = manifest::check_unchanged(manifest, outline).and(read) {
            let mut failed = self.failed.lock();
            if failed.get(&at).is_none_or(|(first, _)| nth < *first) {
                failed.insert(at, (nth, error));
            }
        }
        Ok(())
    }

    /// The manifest at `input`, opened once for all threads that read it at the same time, as a
    /// rule: no thread waits for another one's opening.
    fn open(&self, input: usize, held: &mut Held<'a>) -> anyhow::Result<Arc<Readable<'a>>> {
        if let Some((at, readable)) = held
            && *at == input
        {
            return Ok(readable.clone());
        }
        // The one before it is not needed any more.
        *held = None;
        let known = self.open[input].lock().upgrade();
        let readable = match known {
            Some(readable) => readable,
            None => {
                let Input { manifest, outline } = self.inputs[input];
                let new = Arc::new(Readable::new(manifest, outline.kind, Columns::References)?);
                let mut known = self.open[input].lock();
                known.upgrade().unwrap_or_else(|| {
                    *known = Arc::downgrade(&new);
                    new
                })
            }
        };
        *held = Some((input, readable.clone()));
        Ok(readable)
    }
}
