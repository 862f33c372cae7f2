//! Stores around the local one: one that remembers, one that fails, one that is slow.

use std::future;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;
use std::time::Duration;

use onepull::fault::{Fault, FaultClass};
use onepull::locator::Location;
use onepull::store::{Answer, Body, Local, Opened, Stat, Store};

/// What was read, in the order in which the reads began.
#[derive(Default)]
pub struct Recording(Mutex<Vec<(Location, Range<u64>)>>);

impl Recording {
    /// How many reads carried all of `range` of the file.
    pub fn reads_of(&self, file: &Location, range: &Range<u64>) -> u64 {
        let carries = |(of, read): &&(Location, Range<u64>)| {
            of == file && read.start <= range.start && range.end <= read.end
        };
        self.0.lock().unwrap().iter().filter(carries).count() as u64
    }

    /// How many reads there were, but for those of single blocks, which look at archives.
    pub fn count(&self) -> u64 {
        self.0.lock().unwrap().iter().filter(|(_, read)| read.end - read.start != 512).count() as u64
    }
}

impl Store for Recording {
    fn stat<'a>(&'a self, location: &'a Location) -> Answer<'a, Stat> {
        Local.stat(location)
    }

    fn list<'a>(&'a self, prefix: &'a Location) -> Answer<'a, Vec<Location>> {
        Local.list(prefix)
    }

    fn read<'a>(&'a self, file: &'a Opened, range: Range<u64>) -> Answer<'a, Box<dyn Body + 'a>> {
        self.0.lock().unwrap().push((file.location.clone(), range.clone()));
        Local.read(file, range)
    }
}

/// Fails every third read, and remembers of which file.
#[derive(Default)]
pub struct Failing(AtomicU64, pub Mutex<Vec<Location>>);

impl Store for Failing {
    fn stat<'a>(&'a self, location: &'a Location) -> Answer<'a, Stat> {
        Local.stat(location)
    }

    fn list<'a>(&'a self, prefix: &'a Location) -> Answer<'a, Vec<Location>> {
        Local.list(prefix)
    }

    fn read<'a>(&'a self, file: &'a Opened, range: Range<u64>) -> Answer<'a, Box<dyn Body + 'a>> {
        if self.0.fetch_add(1, Ordering::Relaxed) % 3 != 2 {
            return Local.read(file, range);
        }
        self.1.lock().unwrap().push(file.location.clone());
        let fault = Fault::new(FaultClass::Io, "the line is dead").at(&file.location);
        Box::pin(future::ready(Err(fault)))
    }
}

/// Lets everybody wait for every answer.
pub struct Slow;

impl Store for Slow {
    fn stat<'a>(&'a self, location: &'a Location) -> Answer<'a, Stat> {
        Box::pin(later(Local.stat(location)))
    }

    fn list<'a>(&'a self, prefix: &'a Location) -> Answer<'a, Vec<Location>> {
        Box::pin(later(Local.list(prefix)))
    }

    fn read<'a>(&'a self, file: &'a Opened, range: Range<u64>) -> Answer<'a, Box<dyn Body + 'a>> {
        Box::pin(later(Local.read(file, range)))
    }
}

/// Does not answer at first; another thread wakes whoever waits.
async fn later<T>(answer: Answer<'_, T>) -> Result<T, Fault> {
    let mut asked = false;
    future::poll_fn(|context| {
        if std::mem::replace(&mut asked, true) {
            return Poll::Ready(());
        }
        let waker = context.waker().clone();
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(2));
            waker.wake();
        });
        Poll::Pending
    })
    .await;
    answer.await
}
