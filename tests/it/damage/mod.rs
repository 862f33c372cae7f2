//! Damage: 2,000 broken inputs, the same in every run. Whatever is broken, a run ends, and a row
//! that gets bytes gets the right ones; otherwise it says why not, or its manifest does.
//!
//! What no reader could notice is no damage: a changed payload in a source is what the source
//! holds now, and a changed locator in a file without checksums names what it names now. So the
//! bytes of a row are compared with what its own locator says, read naively.

mod archives;
mod bed;
mod entries;
mod manifests;
mod mutation;
