//! The archives: plain tars, 1,024 members each, that hold every object once.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use anyhow::Context;

use super::objects::{Extent, OBJECTS_PER_ARCHIVE, Objects};
use super::payload;

/// File name of the archive that holds the object at `place`.
pub fn archive_name(place: u32) -> String {
    format!("images-{:05}.tar", place / OBJECTS_PER_ARCHIVE)
}

pub fn member_name(place: u32) -> String {
    format!("{place:09}.jpg")
}

pub fn write(folder: &Path, objects: &Objects) -> anyhow::Result<()> {
    for (number, extents) in (0u32..).zip(objects.extents.chunks(OBJECTS_PER_ARCHIVE as usize)) {
        let first = number * OBJECTS_PER_ARCHIVE;
        let path = folder.join(archive_name(first));
        write_one(&path, first, extents).with_context(|| format!("writing {}", path.display()))?;
    }
    Ok(())
}

fn write_one(path: &Path, first: u32, extents: &[Extent]) -> anyhow::Result<()> {
    let mut tar = tar::Builder::new(BufWriter::with_capacity(1 << 20, File::create(path)?));
    let mut content = Vec::new();
    for (place, extent) in (first..).zip(extents) {
        content.resize(extent.size as usize, 0);
        payload::fill(place, &mut content);
        let mut header = tar::Header::new_ustar();
        header.set_mode(0o644);
        header.set_mtime(0);
        header.set_size(u64::from(extent.size));
        tar.append_data(&mut header, member_name(place), content.as_slice())?;
    }
    tar.into_inner()?.flush()?;
    Ok(())
}
