//! What rows ask for, in keys: the step from locators to objects that a shard's rows wait for.

use std::collections::HashMap;
use std::convert::Infallible;

use arrow_array::LargeStringArray;

use crate::fault::Fault;
use crate::locator::Base;
use crate::locator::Locator;
use crate::locator::url;
use crate::manifest::rows::{Need, Rows, SAMPLE_ID, text_column};
use crate::object::{Key, Object, ObjectName};
use crate::shard::{Cut, Filled};

/// Rows and what each of them waits for.
pub struct Asked<'r> {
    pub rows: &'r Rows,
    /// One for each row.
    pub waiting: Vec<Waiting>,
    /// The sample of each row, where chunks must not cut samples.
    pub samples: Option<LargeStringArray>,
    /// The objects that are waited for.
    pub objects: HashMap<Key, Object>,
}

/// What a row waits for.
pub enum Waiting {
    /// Nothing: this is what becomes of it.
    Done(Filled),
    /// An object, and which frame of it.
    Object(Key, Option<u32>),
}

/// `name` becomes that of the object that `locator` means. Fails where this command cannot read it.
pub fn resolve(locator: &Locator, base: &Base, name: &mut ObjectName) -> Result<(), Fault> {
    name.resolve(locator, base)?;
    if name.is_remote() { Err(url::refusal(&locator.location)) } else { Ok(()) }
}

impl Asked<'_> {
    /// Fails when a column has a type that is no text.
    pub fn by<'r>(rows: &'r Rows, base: &Base, cut: Cut) -> anyhow::Result<Asked<'r>> {
        let samples = match cut {
            Cut::AfterSamples => Some(text_column(&rows.table, SAMPLE_ID)?),
            Cut::AfterAnyRow => None,
        };
        let waiting = Vec::with_capacity(rows.len());
        let mut asked = Asked { rows, waiting, samples, objects: HashMap::new() };
        let mut name = ObjectName::default();
        let Ok(()) = rows.needs(|_, need| {
            let waiting = asked.waiting_for(need, base, &mut name);
            asked.waiting.push(waiting);
            Ok::<(), Infallible>(())
        });
        Ok(asked)
    }

    fn waiting_for(&mut self, need: Need, base: &Base, name: &mut ObjectName) -> Waiting {
        let failed = |what: String| Waiting::Done(Filled::Failed(what));
        let locator = match need {
            Need::Nothing | Need::Present => return Waiting::Done(Filled::Untouched),
            Need::NoLocator => return failed("no_locator: the row does not say where its payload is".into()),
            Need::BadLocator(fault) => return failed(fault.to_string()),
            Need::Payload(locator) => locator,
        };
        if let Err(fault) = resolve(&locator, base, name) {
            return failed(fault.to_string());
        }
        let key = name.key();
        let object = || Object { name: name.clone(), count: 1, wanted: true };
        self.objects.entry(key).or_insert_with(object);
        Waiting::Object(key, locator.frame)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::fault::Class;
    use crate::locator::Target;

    #[test]
    fn remote_objects_are_refused_by_the_name_they_are_written_with() {
        let base = Base::new(Path::new("/")).unwrap();
        for path in ["foo://bar", "S3://b/k", "https://H/x.jpg#1"] {
            let locator = Locator::new(path, Target::Whole);
            let fault = resolve(&locator, &base, &mut ObjectName::default()).unwrap_err();
            let what = format!("{path}: this build reads local files only");
            assert_eq!(fault, Fault::new(Class::Unsupported, what));
        }
    }
}
