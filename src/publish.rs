//! Temporary file, flush, rename: the one place where a file gets its final name.
//!
//! A [`Draft`] is invisible until it is committed and is removed when it is dropped, so nothing
//! half-written ever has a final name. The bytes are handed to the operating system and not
//! forced to the disk: readers of cache entries and of finished shards compare lengths and
//! hashes, which also notices what a power failure left behind.

use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use tempfile::NamedTempFile;

/// A file being written.
pub struct Draft {
    file: NamedTempFile,
}

impl Draft {
    /// Creates a file of a unique name starting with `prefix` in `folder`, which must be on the
    /// same file system as the final place. Its mode is that of any new file: the umask decides.
    pub fn create(folder: &Path, prefix: &str) -> io::Result<Draft> {
        let file = tempfile::Builder::new()
            .prefix(prefix)
            .permissions(Permissions::from_mode(0o666))
            .tempfile_in(folder)?;
        Ok(Draft { file })
    }

    pub fn file(&mut self) -> &mut File {
        self.file.as_file_mut()
    }

    /// Gives the file its final name, replacing any file there. Makes missing folders.
    pub fn commit(self, to: &Path) -> io::Result<()> {
        match self.file.persist(to) {
            Ok(_) => Ok(()),
            Err(failed) if failed.error.kind() == io::ErrorKind::NotFound => {
                if let Some(folder) = to.parent() {
                    fs::create_dir_all(folder)?;
                }
                failed.file.persist(to).map(drop).map_err(|failed| failed.error)
            }
            Err(failed) => Err(failed.error),
        }
    }
}
