//! Divides `--memory` between the steps of a run.
//!
//! Counting uses three quarters and ends before payloads move; the counted objects keep the other quarter
//! until shards are written. Then the payloads of one chunk must fit, with a fixed amount beside them. Half of
//! the rest keeps payloads for a second use; the other half lets more shards be written at the same
//! time. With a limited cache, payloads that it takes and those that it does not share the first half.

use std::sync::Arc;

use bytesize::ByteSize;

use super::chunks::WINDOW_BYTES;
use super::inputs::Input;
use super::options::{CacheMode, Options, StopAfter};
use crate::memory::MemoryBudget;
use crate::plan::uses::BYTES_PER_OBJECT;

/// The shares of a run while it writes shards.
pub struct WriteMemory {
    /// For payloads kept for all shards, bytes.
    pub payloads: u64,
    /// For payloads that shards keep for themselves.
    pub apart: Arc<MemoryBudget>,
    /// Shards written at the same time.
    pub writers: usize,
}

/// Bytes that a run needs beside the payloads of its chunks: spans being read, columns, windows.
const BESIDE: u64 = 64 << 20;

impl WriteMemory {
    /// Fails when not even one chunk fits. How large chunks are must not depend on the memory,
    /// since they are part of the output.
    pub fn new(inputs: &[Input], options: &Options) -> anyhow::Result<WriteMemory> {
        let shards = options.shards();
        let chunk = inputs.iter().map(|input| input.format.chunk_memory(&shards)).max().unwrap_or(0);
        let needed = chunk.saturating_add(BESIDE);
        let Some(spare) = options.memory.checked_sub(needed) else {
            let size = |bytes| ByteSize(bytes).display().si();
            anyhow::bail!(
                "--memory {} is too small: give at least {}, or a --row-group-size below {}",
                size(options.memory),
                size(needed),
                size(options.row_group_bytes),
            );
        };
        // Rows get one window while the next is loaded.
        let writer = chunk.saturating_add(2 * WINDOW_BYTES);
        let more = usize::try_from(spare / 2 / writer).unwrap_or(usize::MAX);
        let writers = options.jobs.min(inputs.len()).min(more.saturating_add(1)).max(1);
        let (payloads, apart) = match options.cache_limit {
            None => (spare / 2, 0),
            Some(_) => (spare / 4, spare / 4),
        };
        Ok(WriteMemory { payloads, apart: Arc::new(MemoryBudget::new(apart)), writers })
    }
}

/// For counting, while the counted objects grow beside it.
pub fn counting_bytes(options: &Options) -> u64 {
    options.memory - object_bytes(options)
}

/// For the counted objects, until shards are written.
pub fn object_bytes(options: &Options) -> u64 {
    options.memory / 4
}

/// Objects are planned and fetched in batches: decoded, one takes several times the memory of its
/// encoded form.
pub fn batch_bytes(options: &Options) -> u64 {
    options.memory / 16
}

/// Whether a run counts the uses of so many objects, to drop payloads after their last use.
pub fn uses_fit(objects: u64, options: &Options) -> bool {
    options.stop_after == StopAfter::Shards
        && options.cache_mode != CacheMode::Never
        && objects.saturating_mul(BYTES_PER_OBJECT) <= options.memory / 16
}
