//! The memory of a table: all zero at first, and in large pages where the system has them.
//!
//! A search goes to a place that is in no cache. In a table of gigabytes with pages of 4 kB, where
//! that place is must be fetched first, too. Memory of its own also goes back at once when a table
//! is replaced by a larger one, where an allocator keeps the gap.

use std::alloc::{Layout, handle_alloc_error};
use std::ops::{Deref, DerefMut};

use memmap2::MmapMut;

/// One slot, as bytes.
pub type Bytes = [u8; BYTES];

const BYTES: usize = 16;

/// The slots of one table.
#[derive(Default)]
pub struct Slots {
    memory: Option<MmapMut>,
}

impl Slots {
    /// At least one slot, all of zeros.
    pub fn new(count: usize) -> Slots {
        let layout = Layout::array::<Bytes>(count).expect("a table is smaller than the memory");
        let memory = MmapMut::map_anon(layout.size()).unwrap_or_else(|_| handle_alloc_error(layout));
        // Without large pages it is only slower.
        #[cfg(target_os = "linux")]
        memory.advise(memmap2::Advice::HugePage).ok();
        Slots { memory: Some(memory) }
    }
}

impl Deref for Slots {
    type Target = [Bytes];

    #[inline]
    fn deref(&self) -> &[Bytes] {
        self.memory.as_deref().unwrap_or_default().as_chunks().0
    }
}

impl DerefMut for Slots {
    #[inline]
    fn deref_mut(&mut self) -> &mut [Bytes] {
        self.memory.as_deref_mut().unwrap_or_default().as_chunks_mut().0
    }
}
