//! Which objects there are, where each lies, and the order in which they are referenced.

use anyhow::ensure;

#[path = "../../tests/support/law.rs"]
#[allow(dead_code)] // Tests use the rest.
mod law;

use super::payload::Random;
use super::{Sizes, Spec};

/// Members of one archive.
pub const OBJECTS_PER_ARCHIVE: u32 = 1024;

/// A tar header, and what contents are padded to.
const TAR_BLOCK: u64 = 512;

/// Objects by place: their number in the order in which they lie in the archives.
pub struct Objects {
    pub extents: Vec<Extent>,
    /// A place for each reference, in corpus order.
    pub references: Vec<u32>,
}

/// Where the content of a member lies in its archive, bytes.
#[derive(Clone, Copy)]
pub struct Extent {
    pub offset: u64,
    pub size: u32,
}

pub fn draw(spec: &Spec) -> anyhow::Result<Objects> {
    ensure!(spec.objects > 0 && spec.manifests > 0, "a corpus needs objects and manifests");
    let multiplicities = exact_multiplicities(spec)?;
    let mut random = Random::new(1);
    // Without this, the objects that are referenced most would lie side by side.
    let mut places: Vec<u32> = (0..spec.objects).collect();
    random.shuffle(&mut places);

    let mut extents = vec![Extent { offset: 0, size: 0 }; spec.objects as usize];
    let mut references = Vec::with_capacity(spec.references as usize);
    for (&place, &k) in places.iter().zip(&multiplicities) {
        extents[place as usize].size = match spec.sizes {
            Sizes::Fixed(bytes) => bytes,
            Sizes::Law => law::size(k, random.normal()),
        };
        references.extend(std::iter::repeat_n(place, k as usize));
    }
    random.shuffle(&mut references);

    for archive in extents.chunks_mut(OBJECTS_PER_ARCHIVE as usize) {
        let mut end = 0;
        for extent in archive {
            extent.offset = end + TAR_BLOCK;
            end = extent.offset + u64::from(extent.size).next_multiple_of(TAR_BLOCK);
        }
    }
    Ok(Objects { extents, references })
}

/// The law's multiplicities, nudged by one here and there until they add up to what was asked
/// for. Objects that are referenced once stay so.
fn exact_multiplicities(spec: &Spec) -> anyhow::Result<Vec<u32>> {
    let mut multiplicities = law::multiplicities(spec.objects);
    let drawn: i64 = multiplicities.iter().map(|&k| i64::from(k)).sum();
    let mut missing = i64::from(spec.references) - drawn;
    while missing != 0 {
        let before = missing;
        for k in multiplicities.iter_mut().rev() {
            if missing > 0 && *k >= 2 {
                *k += 1;
                missing -= 1;
            } else if missing < 0 && *k > 2 {
                *k -= 1;
                missing += 1;
            }
        }
        ensure!(
            missing != before,
            "{} objects cannot have {} references: ask for 1.6 times as many references at least",
            spec.objects,
            spec.references
        );
    }
    Ok(multiplicities)
}
