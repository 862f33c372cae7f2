//! Reads the references of all manifests on several threads.
//!
//! Threads take pieces of manifests in turns and give their rows to a [`Collector`]. A manifest that
//! cannot be read to its end is left out: the others are then read again with a new collector.

use std::collections::BTreeMap;

use parking_lot::Mutex;

use super::Unreadable;
use crate::manifest::rows::{Columns, Rows};
use crate::manifest::{Manifest, ManifestPiece};
use crate::monitor::{Monitor, Phase};
use crate::threads::in_turns;

/// Receives rows from several threads. An error ends the run.
pub trait Collector: Sync {
    /// The state of one thread.
    type Worker<'a>
    where
        Self: 'a;

    fn worker(&self) -> Self::Worker<'_>;

    /// Receives some rows of the manifest at `input`. One worker gets all rows of a piece, in order.
    fn rows(&self, worker: &mut Self::Worker<'_>, input: usize, rows: &Rows) -> anyhow::Result<()>;

    /// Called when a thread is done.
    fn finish(&self, worker: Self::Worker<'_>) -> anyhow::Result<()>;
}

/// The result of [`scan`].
pub struct Scanned<C> {
    pub collector: C,
    /// The manifests that cannot be read, by their index.
    pub unreadable: BTreeMap<usize, Unreadable>,
}

/// Reads all manifests with `jobs` threads. `collector` makes an empty collector for each reading, and
/// gets its number, from 0.
///
/// Fails if a collector fails or the monitor is interrupted.
pub fn scan<C: Collector>(
    manifests: &[&Manifest],
    jobs: usize,
    monitor: &dyn Monitor,
    collector: impl Fn(usize) -> C,
) -> anyhow::Result<Scanned<C>> {
    let mut unreadable = BTreeMap::new();
    for reading in 0.. {
        let readable = (0..manifests.len()).filter(|at| !unreadable.contains_key(at));
        let pass = Reading { manifests, monitor, collector: collector(reading), failed: Mutex::default() };
        pass.run(jobs, readable)?;
        let failed = pass.failed.into_inner();
        if failed.is_empty() {
            return Ok(Scanned { collector: pass.collector, unreadable });
        }
        let named = |(at, (_, error)): (usize, (usize, anyhow::Error))| {
            (at, Unreadable::new(&manifests[at].path, &error))
        };
        unreadable.extend(failed.into_iter().map(named));
    }
    unreachable!("each reading leaves out one more manifest, or is the last");
}

/// One reading of all manifests.
struct Reading<'a, C> {
    manifests: &'a [&'a Manifest],
    monitor: &'a dyn Monitor,
    collector: C,
    /// The first piece of each manifest that cannot be read, and why.
    failed: Mutex<BTreeMap<usize, (usize, anyhow::Error)>>,
}

impl<C: Collector> Reading<'_, C> {
    fn run(&self, jobs: usize, readable: impl Iterator<Item = usize>) -> anyhow::Result<()> {
        let pieces: Vec<(usize, ManifestPiece, u64)> = readable.flat_map(|at| self.pieces(at)).collect();
        self.monitor.start(Phase::Scan, pieces.iter().map(|(_, _, bytes)| bytes).sum());
        in_turns(jobs.min(pieces.len()), pieces.len(), |turns| -> anyhow::Result<()> {
            let mut worker = self.collector.worker();
            // Kept until the next piece is opened: if it is of the same file, they share its footer.
            let mut last = None;
            for nth in turns {
                let (at, piece, bytes) = pieces[nth];
                if !self.has_failed_before(at, nth) {
                    let mut rows = self.manifests[at].rows(piece, Columns::References);
                    for rows in &mut rows {
                        self.monitor.check()?;
                        match rows {
                            Ok(rows) => self.collector.rows(&mut worker, at, &rows)?,
                            Err(error) => self.fail(at, nth, error),
                        }
                    }
                    last = Some(rows);
                }
                self.monitor.advance(Phase::Scan, bytes, 0);
            }
            drop(last);
            self.collector.finish(worker)
        })?;
        self.monitor.finish(Phase::Scan);
        Ok(())
    }

    /// The pieces of a manifest, each with its share of the file's bytes.
    fn pieces(&self, at: usize) -> impl Iterator<Item = (usize, ManifestPiece, u64)> + use<C> {
        let (pieces, bytes) = (self.manifests[at].pieces(), self.manifests[at].bytes);
        let count = pieces.len() as u64;
        let share = move |nth| bytes / count + u64::from(nth == 0) * (bytes % count);
        pieces.into_iter().enumerate().map(move |(nth, piece)| (at, piece, share(nth)))
    }

    fn has_failed_before(&self, at: usize, piece: usize) -> bool {
        self.failed.lock().get(&at).is_some_and(|(first, _)| *first < piece)
    }

    /// Keeps the error of the first piece of each manifest, however many threads there are.
    fn fail(&self, at: usize, piece: usize, error: anyhow::Error) {
        let mut failed = self.failed.lock();
        if failed.get(&at).is_none_or(|(first, _)| piece < *first) {
            failed.insert(at, (piece, error));
        }
    }
}
