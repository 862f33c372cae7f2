//! What a scan finds beside the counts: what the rows are, and a few objects to read or to ask.

use std::collections::BTreeMap;

use super::candidates::Candidates;
use super::modalities::Modalities;
use super::options::{Options, Timing};
use crate::commands::tally::Tally;
use crate::object::{ObjectId, ObjectName};

/// What one thread found, or all together.
#[derive(Clone)]
pub struct Found {
    pub tally: Tally,
    pub modalities: Modalities,
    /// References by the number of the manifest.
    pub by_manifest: BTreeMap<usize, u64>,
    /// Objects to compare the payloads of.
    pub scattered: Candidates,
    /// Objects to time: neighbours, as a run reads them.
    pub neighbours: Candidates,
    /// Objects of unknown size, to ask their sources for it.
    pub sizeless: Candidates,
}

/// Objects that are timed.
const TIMED: usize = 64;

/// Ranges that start in the same stretch of this many bytes are neighbours.
const STRETCH: u64 = 1 << 20;

impl Found {
    /// Nothing yet.
    pub fn new(options: &Options) -> Found {
        Found {
            tally: Tally::default(),
            modalities: Modalities::default(),
            by_manifest: BTreeMap::new(),
            scattered: Candidates::new(options.content_sample),
            neighbours: Candidates::new(match options.timing {
                Timing::Probed => TIMED,
                Timing::Skipped => 0,
            }),
            sizeless: Candidates::new(options.unsized_sample),
        }
    }

    pub fn merge(&mut self, other: Found) {
        self.tally.add(&other.tally);
        self.modalities.add(&other.modalities);
        for (manifest, count) in other.by_manifest {
            *self.by_manifest.entry(manifest).or_default() += count;
        }
        self.scattered.merge(other.scattered);
        self.neighbours.merge(other.neighbours);
        self.sizeless.merge(other.sizeless);
    }

    /// Adds what some rows of the manifest at `input` are.
    pub fn add_rows_of(&mut self, input: usize, tally: &Tally) {
        self.tally.add(tally);
        *self.by_manifest.entry(input).or_default() += tally.references;
    }

    /// Offers an object to be read, or asked for its size.
    #[inline]
    pub fn offer(&mut self, id: ObjectId, name: &ObjectName) {
        if !self.scattered.is_none() {
            self.scattered.offer(id.random(), id, name);
        }
        if !self.neighbours.is_none() {
            self.neighbours.offer(name.neighbourhood(STRETCH), id, name);
        }
        if !self.sizeless.is_none() && name.size().is_none() {
            self.sizeless.offer(id.random(), id, name);
        }
    }
}
