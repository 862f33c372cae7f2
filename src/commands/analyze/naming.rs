//! From the text of a locator to the numbers that are counted of it. Nothing is kept of the text.

use super::sources::{SourceCache, Sources};
use crate::counting::multiplicity::Named;
use crate::fault::Fault;
use crate::locator::Base;
use crate::manifest::rows::RawLocator;
use crate::object::ObjectName;

/// Reads locators; one for each thread.
pub struct Namer<'a> {
    sources: SourceCache<'a>,
    name: ObjectName,
}

impl<'a> Namer<'a> {
    pub fn new(sources: &'a Sources) -> Namer<'a> {
        Namer { sources: SourceCache::new(sources), name: ObjectName::default() }
    }

    /// What `raw`, whose hash is `spelling`, means in a manifest whose relative paths start at
    /// `base`. `None`: it is no locator.
    #[inline]
    pub fn read(&mut self, raw: RawLocator, spelling: u128, base: &Base) -> Result<Option<Named>, Fault> {
        let Some(locator) = raw.parse()? else { return Ok(None) };
        self.name.resolve(&locator, base)?;
        Ok(Some(Named {
            id: self.name.id(),
            source: self.sources.number(self.name.source()),
            size: locator.target.size(),
            spelling: spelling as u64,
            framed: locator.frame.is_some(),
        }))
    }

    /// The name of the object that was read last.
    pub fn name(&self) -> &ObjectName {
        &self.name
    }
}
