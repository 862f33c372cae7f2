//! What each row wants: its object, from its locator, and the steps to apply.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::StringViewArray;

use crate::fault::Fault;
use crate::locator::{Base, Locator, url};
use crate::manifest::rows::{Ask, Rows, SAMPLE_ID, text_column};
use crate::object::{Key, ObjectName};
use crate::payloads::Want;
use crate::shard::{Cut, Filled};
use crate::steps::Step;

/// Rows and what each of them wants.
pub struct RowWants<'r> {
    pub rows: &'r Rows,
    /// One for each row.
    pub wants: Vec<RowWant>,
    /// The sample of each row, where chunks must not cut samples.
    pub samples: Option<StringViewArray>,
}

/// What a row wants.
pub enum RowWant {
    /// Nothing more: this is written for it.
    Done(Filled),
    Payload(Want),
}

/// Sets `name` to the object that `locator` names. Fails if this command cannot read it.
pub fn resolve(locator: &Locator, base: &Base, name: &mut ObjectName) -> Result<(), Fault> {
    name.resolve(locator, base)?;
    if name.is_remote() { Err(url::refusal(&locator.location)) } else { Ok(()) }
}

impl RowWants<'_> {
    /// Fails when a column has a type that is no text.
    pub fn new<'r>(rows: &'r Rows, base: &Base, cut: Cut) -> anyhow::Result<RowWants<'r>> {
        let samples = match cut {
            Cut::AfterSamples => Some(text_column(&rows.table, SAMPLE_ID)?),
            Cut::AfterAnyRow => None,
        };
        let mut resolver = Resolver { base, name: ObjectName::default(), objects: HashMap::new() };
        let wants = rows.asks().map(|ask| resolver.want(ask)).collect();
        Ok(RowWants { rows, wants, samples })
    }
}

struct Resolver<'a> {
    base: &'a Base,
    name: ObjectName,
    /// Rows of one object share its name.
    objects: HashMap<Key, Arc<ObjectName>>,
}

impl Resolver<'_> {
    fn want(&mut self, ask: Ask) -> RowWant {
        let failed = |what: String| RowWant::Done(Filled::Failed(what));
        let parsed = match ask {
            Ask::Nothing | Ask::Present => return RowWant::Done(Filled::Untouched),
            Ask::NoLocator => Ok(None),
            Ask::Payload(text) => Locator::parse(text),
        };
        let locator = match parsed {
            Ok(Some(locator)) => locator,
            Ok(None) => return failed("no_locator: the row does not say where its payload is".into()),
            Err(fault) => return failed(fault.to_string()),
        };
        if let Err(fault) = resolve(&locator, self.base, &mut self.name) {
            return failed(fault.to_string());
        }
        let key = self.name.key();
        let object = self.objects.entry(key).or_insert_with(|| Arc::new(self.name.to_owned()));
        let steps = locator.frame.map(Step::TiffPage).into_iter().collect();
        RowWant::Payload(Want { object: Arc::clone(object), key, steps })
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::fault::FaultClass;
    use crate::locator::Target;

    #[test]
    fn remote_objects_are_refused_by_the_name_they_are_written_with() {
        let base = Base::new(Path::new("/")).unwrap();
        for path in ["foo://bar", "S3://b/k", "https://H/x.jpg#1"] {
            let locator = Locator::new(path, Target::Whole);
            let fault = resolve(&locator, &base, &mut ObjectName::default()).unwrap_err();
            let what = format!("{path}: remote sources are not supported yet");
            assert_eq!(fault, Fault::new(FaultClass::Unsupported, what));
        }
    }
}
