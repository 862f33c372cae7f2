//! How a bound on memory is divided. Every share of the command is in this file.
//!
//! Counting has all of it and is over when payloads move; the counted objects have a quarter until
//! shards are written. Then the payloads of one chunk must fit, with what is beside them; half of the
//! rest keeps payloads for a second use, and the other half lets more shards be written at the same
//! time. Where the cache is limited, the first half is shared by what it takes and what it does not.

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

/// What a run needs beside the payloads of its chunks, bytes: spans being read, columns, windows.
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

/// For the counted objects, until shards are written.
pub fn object_bytes(options: &Options) -> u64 {
    options.memory / 4
}

/// Objects are planned and fetched in batches: decoded, one takes several times the memory of its
/// encoded form.
pub fn batch_bytes(options: &Options) -> u64 {
    options.memory / 16
}

/// Whether a run counts the uses of so many objects: to write shards from payloads that it keeps.
pub fn uses_fit(objects: u64, options: &Options) -> bool {
    options.stop_after == StopAfter::Shards
        && options.cache_mode != CacheMode::Never
        && objects.saturating_mul(BYTES_PER_OBJECT) <= options.memory / 16
}
