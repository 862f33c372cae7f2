//! Which objects a cache of limited size takes: chosen once, before the first fetch, from the counts.
//!
//! The choice is that of [`crate::analysis::admission`]. Nothing is evicted: entries of earlier runs
//! stay, and what is not admitted is read again for each shard that needs it.

use rayon::iter::{IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator};

use super::options::{CacheLimit, CachePolicy};
use super::report::CacheAdmission;
use crate::analysis::admission::{Policy, Verdict, admit_entries};
use crate::analysis::table::MultiplicityTable;
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
    let (mut table, mut recurring) = (MultiplicityTable::default(), Vec::new());
    for batch in counts.batches(batch_bytes) {
        monitor.check()?;
        let batch = batch?;
        let objects: Vec<&Object> = batch.iter().filter(|object| object.count > 1).collect();
        let sized = |object: &&Object| object.name.size().or_else(|| size(object));
        let sizes: Vec<Option<u64>> =
            pool.install(|| objects.par_iter().with_min_len(64).map(sized).collect());
        for (object, size) in objects.into_iter().zip(sizes) {
            table.push(object.count, size);
            recurring.push((object.name.id().short(), object.count, size));
        }
    }
    table.settle();
    assume_sizes(&mut table, monitor);
    let policy = match limit.policy {
        CachePolicy::Count => Policy::Count,
        CachePolicy::Density => Policy::Density,
    };
    let admission = pool.install(|| admit_entries(&table, policy, &[limit.bytes], ENTRY_OVERHEAD));
    let admission = &admission[0];
    recurring.sort_unstable();
    let mut alike = 0;
    let mut admits = |k, size| match admission.verdict(k, size) {
        Verdict::Admitted => true,
        Verdict::AmongTheLast(objects) => {
            alike += 1;
            alike <= objects
        }
        Verdict::LeftOut => false,
    };
    let sized = recurring.into_iter().filter_map(|(id, k, size)| Some((id, k, size.or(table.assumed())?)));
    let uses = Uses::new(sized.map(|(id, k, size)| (id, k, admits(k, size))), CacheTakes::Admitted);
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
fn assume_sizes(table: &mut MultiplicityTable, monitor: &dyn Monitor) {
    let totals = table.totals();
    let (unknown, known) = (totals.unsized_objects, totals.objects - totals.unsized_objects);
    if unknown == 0 {
        return;
    }
    let mean = totals.unique_bytes.checked_div(known.into());
    let mean = mean.map_or(GUESS_BYTES, |mean| u64::try_from(mean).unwrap_or(u64::MAX));
    table.assume(mean);
    monitor.problem(&format!(
        "the size of {unknown} of the {} objects that recur is unknown; --cache-limit assumes {mean} bytes for \
         each, so the cache may take more or less than the limit",
        totals.objects
    ));
}
