//! From the text of a locator to the numbers that are counted of it. Nothing is kept of the text.

use super::sources::{SourceCache, Sources};
use crate::counting::multiplicity::Named;
use crate::fault::Fault;
use crate::locator::Base;
use crate::locator::Locator;
use crate::object;

/// Reads locators; one for each thread.
pub struct Namer<'a> {
    sources: SourceCache<'a>,
    canonical: Vec<u8>,
}

impl<'a> Namer<'a> {
    pub fn new(sources: &'a Sources) -> Namer<'a> {
        Namer { sources: SourceCache::new(sources), canonical: Vec::new() }
    }

    /// What `text`, whose hash is `spelling`, means in a manifest whose relative paths start at
    /// `base`. `None`: it is no locator.
    #[inline]
    pub fn read(&mut self, text: &str, spelling: u128, base: &Base) -> Result<Option<Named>, Fault> {
        let Some(locator) = Locator::parse(text)? else { return Ok(None) };
        let path_end = base.resolve(&locator, &mut self.canonical)?;
        Ok(Some(Named {
            digest: object::digest(&self.canonical),
            source: self.sources.number(object::prefix(&self.canonical[..path_end])),
            size: locator.target.size(),
            spelling: spelling as u64,
            framed: locator.frame.is_some(),
        }))
    }

    /// The canonical bytes of the object that was read last.
    pub fn canonical(&self) -> &[u8] {
        &self.canonical
    }
}
