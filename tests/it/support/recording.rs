//! Local files, with a record of every payload that was handed over.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use onepull::fault::Fault;
use onepull::locator::SourcePath;
use onepull::locator::Target;
use onepull::store::local::{FileInfo, Local};
use onepull::store::{Cost, Prepared, Request, Source};

/// One payload, as a source is asked for it.
pub type Wanted = (SourcePath, Target);

pub struct Recording {
    local: Local,
    /// By the address of the file that its requests share.
    prepared: Mutex<HashMap<usize, Preparation>>,
    deliveries: Mutex<HashMap<Wanted, u64>>,
}

/// What the requests of one preparation count through.
struct Preparation {
    /// Kept, so that its address stays its own.
    file: Arc<FileInfo>,
    targets: Vec<Target>,
}

impl Recording {
    pub fn new() -> Recording {
        Recording {
            local: Local::new(Vec::new()).unwrap(),
            prepared: Mutex::default(),
            deliveries: Mutex::default(),
        }
    }

    /// How often each payload was handed over.
    pub fn deliveries(&self) -> HashMap<Wanted, u64> {
        self.deliveries.lock().unwrap().clone()
    }

    /// How many payloads were handed over.
    pub fn count(&self) -> u64 {
        self.deliveries.lock().unwrap().values().sum()
    }
}

impl Source for Recording {
    fn prepare(&self, path: &SourcePath, targets: &[Target]) -> Prepared {
        let prepared = self.local.prepare(path, targets);
        if let Some(request) = prepared.requests.first() {
            let known = Preparation { file: Arc::clone(&request.file), targets: targets.to_vec() };
            self.prepared.lock().unwrap().insert(address(&request.file), known);
        }
        prepared
    }

    fn perform(&self, request: &Request, deliver: &mut dyn FnMut(usize, Result<Bytes, Fault>)) -> Cost {
        let mut delivered = Vec::new();
        let cost = self.local.perform(request, &mut |target, result| {
            if result.is_ok() {
                delivered.push(target);
            }
            deliver(target, result);
        });
        let prepared = self.prepared.lock().unwrap();
        let Preparation { file, targets } = &prepared[&address(&request.file)];
        let mut deliveries = self.deliveries.lock().unwrap();
        for target in delivered {
            *deliveries.entry((file.path.clone(), targets[target].clone())).or_default() += 1;
        }
        cost
    }

    fn measure(&self, request: &Request, deliver: &mut dyn FnMut(usize, Result<u64, Fault>)) {
        self.local.measure(request, deliver);
    }
}

fn address(file: &Arc<FileInfo>) -> usize {
    Arc::as_ptr(file) as usize
}
