//! Hands the rows of one shard their payloads, window by window: the next one is loaded while rows get
//! the one before.
//!
//! An object that a limited cache does not take is read once for each shard that needs it, and for
//! none of the others; the shard keeps it as long as it names it again.

use std::collections::{HashMap, HashSet};
use std::panic::resume_unwind;
use std::sync::Arc;
use std::thread::{Scope, ScopedJoinHandle};

use bytes::Bytes;
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

use super::{Loaded, PayloadResult, Payloads, ShardTier, Supplied};
use crate::fault::Fault;
use crate::locator::Target;
use crate::object::{Key, ObjectName};
use crate::steps::Step;

/// What a row wants: an object, and what is made of its payload.
#[derive(Clone, Debug)]
pub struct Want {
    pub object: Arc<ObjectName>,
    /// The key of the object.
    pub key: Key,
    /// In their order; none for the payload as it is.
    pub steps: Vec<Step>,
}

impl Payloads<'_> {
    /// Each of `wants` with its payload. Their objects are loaded together by `load`, and their steps
    /// run on all threads.
    fn window(
        &self,
        wants: &[Want],
        load: impl FnOnce(&[&Want]) -> anyhow::Result<Loaded>,
    ) -> anyhow::Result<Window> {
        let mut seen = HashSet::new();
        let distinct: Vec<&Want> = wants.iter().filter(|want| seen.insert(want.key)).collect();
        let objects: HashMap<Key, PayloadResult> = load(&distinct)?.into_iter().collect();
        let object = |want: &Want| objects[&want.key].clone();
        let step = |want: &Want| object(want).and_then(|payload| want.apply_steps(payload));
        let results: Vec<PayloadResult> = if wants.iter().any(|want| !want.steps.is_empty()) {
            self.pool.install(|| wants.par_iter().map(step).collect())
        } else {
            wants.iter().map(object).collect()
        };
        for (want, result) in wants.iter().zip(&results) {
            if let Err(fault) = result
                && object(want).is_ok()
                && self.seen.lock().failed_steps.insert(want.id())
            {
                self.failures.report(fault, self.monitor)?;
            }
        }
        Ok(wants.iter().map(Want::id).zip(results).collect())
    }
}

impl Want {
    /// What the wanted bytes are known by: the key of the object, or of what the steps make of it.
    pub fn id(&self) -> Key {
        self.steps.iter().fold(self.key, |key, step| {
            let mut hasher = blake3::Hasher::new();
            hasher.update(b"onepull step v1\0").update(&key.0).update(step.name().as_bytes());
            Key(*hasher.finalize().as_bytes())
        })
    }

    /// Applies the steps. A fault names the object.
    fn apply_steps(&self, payload: Bytes) -> PayloadResult {
        let applied = self.steps.iter().try_fold(payload, |payload, step| step.apply(&payload));
        applied.map_err(|fault| {
            let path = self.object.location();
            let what = match self.object.target() {
                Target::Whole => format!("{path}: {}", fault.what),
                Target::Member(name) => format!("{path}: member {name}: {}", fault.what),
                Target::Range { offset, size } => format!("{path}: {size} bytes at {offset}: {}", fault.what),
            };
            Fault::new(fault.class, what)
        })
    }
}

/// Wants with their payloads, by [`Want::id`].
pub type Window = HashMap<Key, PayloadResult>;

/// Payloads for the rows of one shard.
pub struct ShardPayloads<'s, 'e> {
    pub payloads: &'s Payloads<'s>,
    /// For what a limited cache does not take.
    apart: ShardTier,
    /// Whether it was reported that the tier cannot keep something.
    reported: bool,
    scope: &'s Scope<'s, 'e>,
    /// A thread that loads the next window.
    ahead: Option<ScopedJoinHandle<'s, anyhow::Result<Window>>>,
}

impl<'s, 'e> ShardPayloads<'s, 'e> {
    /// Loads ahead on threads of `scope`.
    pub fn new(
        payloads: &'s Payloads<'s>,
        apart: ShardTier,
        scope: &'s Scope<'s, 'e>,
    ) -> ShardPayloads<'s, 'e> {
        ShardPayloads { payloads, apart, reported: false, scope, ahead: None }
    }

    /// Whether windows can be loaded ahead: what is read for the shard alone is known only in the
    /// order of its rows.
    pub fn loads_ahead(&self) -> bool {
        self.payloads.limited().is_none()
    }

    /// Begins to load `wants`, when no other window is ahead.
    pub fn load_ahead(&mut self, wants: Vec<Want>) {
        let payloads = self.payloads;
        let load = move || payloads.window(&wants, |distinct| payloads.load(distinct));
        self.ahead = Some(self.scope.spawn(load));
    }

    /// Waits for the window that is ahead, if there is one.
    ///
    /// Fails only when the run is to stop.
    pub fn take_ahead(&mut self) -> anyhow::Result<Window> {
        let Some(thread) = self.ahead.take() else { return Ok(Window::new()) };
        thread.join().unwrap_or_else(|panic| resume_unwind(panic))
    }

    /// Loads `wants` now.
    ///
    /// Fails only when the run is to stop.
    pub fn window(&mut self, wants: &[Want]) -> anyhow::Result<Window> {
        let payloads = self.payloads;
        payloads.window(wants, |distinct| self.load(distinct))
    }

    /// Counts one reference to the object as done with.
    pub fn used(&mut self, want: &Want) -> Supplied {
        let last = self.payloads.plan.uses.as_ref().is_some_and(|uses| uses.used(&want.object));
        if last {
            self.payloads.memory.forget(&want.key);
        }
        if self.takes(want) { Supplied::Cached } else { self.apart.used(&want.key) }
    }

    fn takes(&self, want: &Want) -> bool {
        self.payloads.limited().is_none_or(|uses| uses.admit(&want.object))
    }

    /// Loads `wants`, of distinct objects.
    fn load(&mut self, wants: &[&Want]) -> anyhow::Result<Loaded> {
        let (mut loaded, mut admitted, mut left_out) = (Loaded::new(), Vec::new(), Vec::new());
        for &want in wants {
            if self.takes(want) {
                admitted.push(want);
            } else if let Some(payload) = self.apart.get(&want.key) {
                loaded.push((want.key, Ok(payload)));
            } else {
                left_out.push(want);
            }
        }
        loaded.extend(self.payloads.load(&admitted)?);
        for (key, payload) in self.payloads.load_apart(&left_out)? {
            if let Ok(payload) = &payload {
                self.keep_apart(&key, payload);
            }
            loaded.push((key, payload));
        }
        Ok(loaded)
    }

    fn keep_apart(&mut self, key: &Key, payload: &Bytes) {
        if let Err(error) = self.apart.keep(key, payload)
            && !std::mem::replace(&mut self.reported, true)
        {
            self.payloads.monitor.problem(&format!(
                "cannot keep repeated images in the output folder: {error}. They are read again"
            ));
        }
    }
}
