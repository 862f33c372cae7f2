//! Gives one shard its payloads: those that the cache may hold through it, the others apart.
//!
//! An object that a cache of limited size does not take is read once for each shard that needs it, and for
//! none of the others; the shard keeps it as long as it names it again.

use std::collections::HashMap;
use std::path::PathBuf;

use bytes::Bytes;

use super::admission::AdmittedObjects;
use super::asked::{Asked, Waiting};
use super::inputs::Input;
use super::load::Loader;
use super::shard_tier::{ShardTier, Use};
use crate::fault::Fault;
use crate::manifest::Piece;
use crate::manifest::rows::Columns;
use crate::object::Key;
use crate::object::Object;
use crate::shard::Cut;

/// Payloads for the rows of one shard.
pub struct Supply<'a> {
    pub loader: &'a Loader<'a>,
    /// `None`: the cache may hold every object.
    apart: Option<Apart<'a>>,
}

/// What is supplied beside the cache.
struct Apart<'a> {
    admission: &'a AdmittedObjects,
    tier: ShardTier,
    /// The tier could not keep something, and it was said.
    told: bool,
}

/// How a reference got its payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Supplied {
    /// Through the cache, which may hold the object.
    Cached,
    /// By a read for the shard alone, this time or before.
    Apart(Use),
}

type Payload = Result<Bytes, Fault>;

impl<'a> Supply<'a> {
    /// Everything goes through the cache.
    pub fn cached(loader: &'a Loader<'a>) -> Supply<'a> {
        Supply { loader, apart: None }
    }

    /// What `admission` leaves out is kept for the shard of `input`: in `room` bytes of memory, and
    /// in a file in `folder`.
    ///
    /// Reads the manifest to know what recurs in it; fails when that fails, or the run is to stop.
    pub fn of(
        loader: &'a Loader<'a>,
        admission: &'a AdmittedObjects,
        input: &Input,
        room: u64,
        folder: PathBuf,
    ) -> anyhow::Result<Supply<'a>> {
        let mut references: HashMap<Key, u64> = HashMap::new();
        for rows in input.manifest.rows(Piece::Whole, Columns::References) {
            loader.monitor().check()?;
            let rows = rows?;
            let asked = Asked::by(&rows, &input.manifest.base, Cut::AfterAnyRow)?;
            for waiting in &asked.waiting {
                if let Waiting::Object(key, _) = waiting
                    && !admission.contain(&asked.objects[key].name)
                {
                    *references.entry(*key).or_default() += 1;
                }
            }
        }
        let tier = ShardTier::new(references, room, folder);
        Ok(Supply { loader, apart: Some(Apart { admission, tier, told: false }) })
    }

    /// The payloads of `objects`, which are distinct, in their order.
    ///
    /// Fails only when the run is to stop.
    pub fn load(&mut self, objects: &[(Key, Object)]) -> anyhow::Result<Vec<Payload>> {
        let Some(apart) = &mut self.apart else { return self.loader.load(objects) };
        let mut payloads: Vec<Option<Payload>> =
            objects.iter().map(|(key, _)| apart.tier.get(key).map(Ok)).collect();
        let missing = (0..objects.len()).filter(|&at| payloads[at].is_none());
        let (admitted, left_out): (Vec<usize>, Vec<usize>) =
            missing.partition(|&at| apart.admission.contain(&objects[at].1.name));
        let at = |places: &[usize]| -> Vec<(Key, Object)> {
            places.iter().map(|&place| objects[place].clone()).collect()
        };
        for (place, payload) in admitted.iter().zip(self.loader.load(&at(&admitted))?) {
            payloads[*place] = Some(payload);
        }
        for (place, payload) in left_out.iter().zip(self.loader.load_apart(&at(&left_out))?) {
            if let Ok(payload) = &payload {
                apart.keep(&objects[*place].0, payload, self.loader);
            }
            payloads[*place] = Some(payload);
        }
        Ok(payloads.into_iter().map(|payload| payload.expect("kept, admitted or left out")).collect())
    }

    /// [`Supply::load`] for a single object.
    pub fn load_one(&mut self, key: Key, object: &Object) -> anyhow::Result<Payload> {
        let mut loaded = self.load(&[(key, object.clone())])?;
        Ok(loaded.pop().expect("one result for one object"))
    }

    /// Counts one reference to the object as done with.
    pub fn used(&mut self, key: &Key, object: &Object) -> Supplied {
        match &mut self.apart {
            Some(apart) if !apart.admission.contain(&object.name) => Supplied::Apart(apart.tier.used(key)),
            _ => Supplied::Cached,
        }
    }
}

impl Apart<'_> {
    fn keep(&mut self, key: &Key, payload: &Bytes, loader: &Loader) {
        if let Err(error) = self.tier.keep(key, payload)
            && !std::mem::replace(&mut self.told, true)
        {
            loader.monitor().problem(&format!(
                "payloads that recur in a shard cannot be kept beside it: {error}; they are read again"
            ));
        }
    }
}
