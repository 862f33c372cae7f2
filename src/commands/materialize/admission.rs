//! Which objects a cache of limited size takes: chosen once, before the first fetch, from the counts.
//!
//! The choice is that of [`crate::analysis::admission`]. Nothing is evicted: entries of earlier runs
//! stay, and what is not admitted is read again for each shard that needs it.

use rayon::iter::{IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator};

use super::options::{CacheLimit, CachePolicy};
use super::report::CacheAdmission;
use crate::analysis::admission::{Policy, admit_entries};
use crate::analysis::objects::Objects;
use crate::cache::ENTRY_OVERHEAD;
use crate::counting::named::NamedCounts;
use crate::monitor::Monitor;
use crate::object::Object;
use crate::plan::uses::{CacheTakes, Uses};

/// The size of each object where none is known, bytes.
const GUESS_BYTES: u64 = 1 << 20;

/// Admits objects to a cache of `limit`. `size` finds out the bytes of an object whose locator does
/// not say them, if that costs little.
///
/// Fails when the counts cannot be read back, and when interrupted.
pub fn admit(
    counts: &NamedCounts,
    batch_bytes: u64,
    limit: CacheLimit,
    size: &(dyn Fn(&Object) -> Option<u64> + Sync),
    pool: &rayon::ThreadPool,
    monitor: &dyn Monitor,
) -> anyhow::Result<(Uses, CacheAdmission)> {
    let mut objects = Objects::default();
    for batch in counts.batches(batch_bytes) {
        monitor.check()?;
        let batch = batch?;
        let recurring: Vec<&Object> = batch.iter().filter(|object| object.count > 1).collect();
        let sized = |object: &&Object| object.name.size().or_else(|| size(object));
        let sizes: Vec<Option<u64>> =
            pool.install(|| recurring.par_iter().with_min_len(64).map(sized).collect());
        for (object, size) in recurring.into_iter().zip(sizes) {
            objects.push(object.name.id().short(), object.count, size);
        }
    }
    assume_sizes(&mut objects, monitor);
    let policy = match limit.policy {
        CachePolicy::Count => Policy::Count,
        CachePolicy::Density => Policy::Density,
    };
    let admission = pool.install(|| admit_entries(&objects, policy, &[limit.bytes], ENTRY_OVERHEAD));
    let admission = &admission[0];
    let counted = objects.recurring().map(|(id, k, size)| (id, k, admission.admits(id, k, size)));
    let uses = Uses::new(counted, CacheTakes::Admitted);
    let (sums, references) = (admission.admitted, counts.totals.references);
    let summary = CacheAdmission {
        policy: limit.policy.name(),
        budget: limit.bytes,
        admitted_objects: sums.objects,
        admitted_bytes: u64::try_from(sums.bytes).unwrap_or(u64::MAX),
        predicted_hit_rate: if references == 0 { 0.0 } else { sums.hits as f64 / references as f64 },
    };
    Ok((uses, summary))
}

/// Objects of unknown size are taken to have the mean of the others.
fn assume_sizes(objects: &mut Objects, monitor: &dyn Monitor) {
    let totals = objects.totals();
    let (unknown, known) = (totals.unsized_objects, totals.objects - totals.unsized_objects);
    if unknown == 0 {
        return;
    }
    let mean = totals.unique_bytes.checked_div(known.into());
    let mean = mean.map_or(GUESS_BYTES, |mean| u64::try_from(mean).unwrap_or(u64::MAX));
    objects.assume(mean);
    monitor.problem(&format!(
        "the size of {unknown} of the {} objects that recur is unknown; --cache-limit assumes {mean} bytes for \
         each, so the cache may take more or less than the limit",
        totals.objects
    ));
}
