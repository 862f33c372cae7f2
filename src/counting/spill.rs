//! One unnamed temporary file that takes what does not fit in memory.

use parking_lot::Mutex;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// Where a stretch of bytes lies in the file.
pub struct Stretch {
    offset: u64,
    pub length: usize,
}

/// The file is made when it is first needed, in `TMPDIR`, and has no name: it cannot be left
/// behind.
#[derive(Default)]
pub struct Spill {
    state: Mutex<SpillState>,
}

#[derive(Default)]
struct SpillState {
    file: Option<File>,
    end: u64,
}

impl Spill {
    /// Appends `blocks`. The lock is held for choosing the place, not for writing.
    pub fn write(&self, blocks: &[Vec<u8>]) -> io::Result<Stretch> {
        let length = blocks.iter().map(Vec::len).sum();
        let (file, offset) = {
            let mut state = self.state.lock();
            if state.file.is_none() {
                state.file = Some(tempfile::tempfile().map_err(explain)?);
            }
            let file = state.file.as_ref().expect("made above").try_clone()?;
            let offset = state.end;
            state.end += length as u64;
            (file, offset)
        };
        let mut position = offset;
        for block in blocks {
            file.write_all_at(block, position).map_err(explain)?;
            position += block.len() as u64;
        }
        Ok(Stretch { offset, length })
    }

    /// Appends the bytes of a stretch to `out`.
    pub fn read(&self, stretch: &Stretch, out: &mut Vec<u8>) -> io::Result<()> {
        let file = {
            let state = self.state.lock();
            state.file.as_ref().expect("a stretch was written").try_clone()?
        };
        let start = out.len();
        out.resize(start + stretch.length, 0);
        file.read_exact_at(&mut out[start..], stretch.offset)
    }

    /// Bytes written so far.
    pub fn written(&self) -> u64 {
        self.state.lock().end
    }
}

fn explain(error: io::Error) -> io::Error {
    let folder = std::env::temp_dir();
    io::Error::new(
        error.kind(),
        format!("temporary file in {}: {error}; give more --memory or another TMPDIR", folder.display()),
    )
}
