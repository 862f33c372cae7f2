//! What a scan finds beside the counts: kinds of rows, and samples of the objects, to read or to probe.

use std::collections::BTreeMap;

use arrow_array::{Array, StringViewArray};

use super::options::Options;
use crate::commands::references::Tally;
use crate::object::{ObjectId, ObjectName};

/// What one thread found, or all together.
#[derive(Clone)]
pub struct ScanSummary {
    pub tally: Tally,
    pub modalities: ModalityCounts,
    /// References by the number of the manifest.
    pub by_manifest: BTreeMap<usize, u64>,
    /// Objects to compare the payloads of.
    pub content_sample: ObjectSample,
    /// Objects to time: neighbours, as a run reads them.
    pub timing_sample: ObjectSample,
    /// Objects of unknown size to probe.
    pub size_sample: ObjectSample,
}

/// Objects that are timed.
const TIMED: usize = 64;

/// Ranges that start in the same stretch of this many bytes are neighbours.
const STRETCH: u64 = 1 << 20;

impl ScanSummary {
    /// Nothing yet.
    pub fn new(options: &Options) -> ScanSummary {
        ScanSummary {
            tally: Tally::default(),
            modalities: ModalityCounts::default(),
            by_manifest: BTreeMap::new(),
            content_sample: ObjectSample::new(options.content_sample),
            timing_sample: ObjectSample::new(if options.probe { TIMED } else { 0 }),
            size_sample: ObjectSample::new(options.unsized_sample),
        }
    }

    pub fn merge(&mut self, other: ScanSummary) {
        self.tally.add(&other.tally);
        self.modalities.add(&other.modalities);
        for (manifest, count) in other.by_manifest {
            *self.by_manifest.entry(manifest).or_default() += count;
        }
        self.content_sample.merge(other.content_sample);
        self.timing_sample.merge(other.timing_sample);
        self.size_sample.merge(other.size_sample);
    }

    /// Adds what some rows of the manifest at `input` are.
    pub fn add_rows_of(&mut self, input: usize, tally: &Tally) {
        self.tally.add(tally);
        *self.by_manifest.entry(input).or_default() += tally.references;
    }

    /// Offers an object to the samples.
    #[inline]
    pub fn offer(&mut self, id: ObjectId, name: &ObjectName) {
        if !self.content_sample.is_none() {
            self.content_sample.offer(id.random(), id, name);
        }
        if !self.timing_sample.is_none() {
            self.timing_sample.offer(name.neighbourhood(STRETCH), id, name);
        }
        if !self.size_sample.is_none() && name.size().is_none() {
            self.size_sample.offer(id.random(), id, name);
        }
    }
}

/// The objects of the lowest ranks among those that were offered.
#[derive(Clone, Debug)]
pub struct ObjectSample {
    most: usize,
    /// By rank and id.
    lowest: BTreeMap<(u64, ObjectId), ObjectName>,
}

impl ObjectSample {
    /// Keeps at most this many.
    pub fn new(most: usize) -> ObjectSample {
        ObjectSample { most, lowest: BTreeMap::new() }
    }

    /// Whether none are wanted.
    pub fn is_none(&self) -> bool {
        self.most == 0
    }

    /// Offers an object; a second time changes nothing.
    #[inline]
    pub fn offer(&mut self, rank: u64, id: ObjectId, name: &ObjectName) {
        if self.lowest.len() < self.most
            || self.lowest.last_key_value().is_some_and(|(highest, _)| (rank, id) < *highest)
        {
            self.insert(rank, id, name.clone());
        }
    }

    pub fn merge(&mut self, other: ObjectSample) {
        for ((rank, id), name) in other.lowest {
            self.insert(rank, id, name);
        }
    }

    /// The names, in order of rank.
    pub fn into_names(self) -> Vec<ObjectName> {
        self.lowest.into_values().collect()
    }

    fn insert(&mut self, rank: u64, id: ObjectId, name: ObjectName) {
        self.lowest.insert((rank, id), name);
        if self.lowest.len() > self.most {
            self.lowest.pop_last();
        }
    }
}

/// Modalities with a count of their own; all others are counted together, behind these.
const NAMED: [&str; 3] = ["image", "metadata", "text"];

/// How many rows have which modality.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModalityCounts([u64; NAMED.len() + 1]);

impl ModalityCounts {
    /// Counts each row of the column.
    pub fn count(&mut self, column: &StringViewArray) {
        // A text of up to 12 bytes is inlined in its view, which is compared as one integer.
        let named = StringViewArray::from_iter_values(NAMED);
        for (row, view) in column.views().iter().enumerate() {
            let nth = named.views().iter().position(|named| named == view);
            self.0[nth.filter(|_| !column.is_null(row)).unwrap_or(NAMED.len())] += 1;
        }
    }

    /// Rows by the name of their modality; those without rows are left out.
    pub fn by_name(&self) -> BTreeMap<&'static str, u64> {
        NAMED.into_iter().chain(["other"]).zip(self.0).filter(|(_, rows)| *rows > 0).collect()
    }

    pub fn add(&mut self, other: &ModalityCounts) {
        self.0.iter_mut().zip(other.0).for_each(|(rows, more)| *rows += more);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::locator::Target;

    fn name(rank: u64) -> ObjectName {
        ObjectName::new(format!("/{rank}").as_bytes(), &Target::Whole)
    }

    #[test]
    fn the_lowest_ranks_are_kept_in_whatever_order_they_come() {
        let objects: Vec<u64> = (0..100).map(|n| n * 37 % 100).collect();
        let mut halves = [ObjectSample::new(5), ObjectSample::new(5)];
        for (nth, rank) in objects.iter().chain(&objects).enumerate() {
            halves[nth % 2].offer(*rank, name(*rank).id(), &name(*rank));
        }
        let [mut all, other] = halves;
        all.merge(other);
        assert_eq!(all.into_names(), [0, 1, 2, 3, 4].map(name));
    }

    #[test]
    fn none_are_kept_if_none_are_wanted() {
        let mut none = ObjectSample::new(0);
        none.offer(0, name(0).id(), &name(0));
        assert!(none.into_names().is_empty());
    }

    #[test]
    fn all_but_the_three_of_the_schema_count_together() {
        let names =
            [Some("image"), None, Some("text"), Some("image"), Some("a rather long modality"), Some("")];
        let mut modalities = ModalityCounts::default();
        modalities.count(&StringViewArray::from_iter(names));
        assert_eq!(modalities.by_name(), [("image", 2), ("text", 1), ("other", 3)].into());
        modalities.add(&modalities.clone());
        modalities.count(&StringViewArray::from_iter_values(["metadata"]));
        assert_eq!(modalities.by_name(), [("image", 4), ("text", 2), ("other", 6), ("metadata", 1)].into());
    }
}
