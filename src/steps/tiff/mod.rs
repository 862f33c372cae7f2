//! One page of a multi-page TIFF, as a TIFF of its own.
//!
//! Nothing is decoded: the page's directory is written anew, its compressed strips or tiles are
//! copied as they are, so that no pixel changes and any compression passes through. The `tiff`
//! crate writes the byte order of the machine only, in which samples of the other byte order
//! would have to be decoded and encoded again; hence the small reader and writer here. Pointers
//! to places outside the page (EXIF, GPS, sub-images) are left out.

mod directory;
mod page;

use bytes::Bytes;

use crate::fault::{Fault, FaultClass};
use directory::Tiff;

/// Page `index`, counted from 0, of the payload. A payload that is no TIFF is returned whole,
/// and so is a TIFF of one page.
///
/// # Errors
/// [`FaultClass::FrameMissing`] when there is no such page or it is damaged, [`FaultClass::Unsupported`]
/// when a page cannot be taken out of its file without decoding it.
pub fn extract(payload: &Bytes, index: u32) -> Result<Bytes, Fault> {
    let Some(tiff) = Tiff::open(payload) else { return Ok(payload.clone()) };
    let missing =
        |what: String| Fault::new(FaultClass::FrameMissing, format!("page {index} of a TIFF: {what}"));
    let page = tiff.page(index).map_err(missing)?;
    if page.alone {
        page::check(&tiff, &page).map_err(missing)?;
        return Ok(payload.clone());
    }
    if page::is_old_jpeg(&tiff, &page) {
        let what = format!("page {index} of a TIFF: old-style JPEG compression cannot be taken apart");
        return Err(Fault::new(FaultClass::Unsupported, what));
    }
    page::copy(&tiff, &page).map(Bytes::from).map_err(missing)
}

#[cfg(test)]
mod tests;
