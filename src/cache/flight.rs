//! Single flight: of all threads that need a key at once, one does the work.
//!
//! The others wait until the leader is through, however it ends: its [`Lead`] wakes them when it
//! is dropped, also after a failure or a panic. They then look for themselves whether the work is
//! done, and lead if it is not.

use parking_lot::{Condvar, Mutex};
use std::collections::HashSet;

use crate::object::Key;

/// The keys being worked on in this process.
#[derive(Default)]
pub struct Flight {
    leading: Mutex<HashSet<Key>>,
    landed: Condvar,
}

/// The right, and the duty, to do the work for a key.
pub struct Lead<'a> {
    flight: &'a Flight,
    key: Key,
}

impl Flight {
    /// Takes the lead for `key`, or `None` while another thread has it.
    pub fn try_lead(&self, key: Key) -> Option<Lead<'_>> {
        let mut leading = self.leading.lock();
        leading.insert(key).then(|| Lead { flight: self, key })
    }

    /// Waits until nobody leads `key`. A thread must hold no lead while it waits.
    pub fn wait(&self, key: Key) {
        let mut leading = self.leading.lock();
        while leading.contains(&key) {
            self.landed.wait(&mut leading);
        }
    }
}

impl Drop for Lead<'_> {
    fn drop(&mut self) {
        self.flight.leading.lock().remove(&self.key);
        self.flight.landed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn one_thread_leads_and_a_leader_that_panics_wakes_its_followers() {
        let flight = Flight::default();
        let key = Key([1; 32]);
        let led = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            let lead = flight.try_lead(key).unwrap();
            let followers: Vec<_> = (0..4)
                .map(|_| {
                    scope.spawn(|| {
                        while flight
                            .try_lead(key)
                            .map(|lead| drop((lead, led.fetch_add(1, Ordering::SeqCst))))
                            .is_none()
                        {
                            flight.wait(key);
                        }
                    })
                })
                .collect();
            let dead = scope.spawn(move || {
                let _lead = lead;
                panic!("the leader fails");
            });
            assert!(dead.join().is_err());
            followers.into_iter().for_each(|f| f.join().unwrap());
        });
        assert_eq!(led.load(Ordering::SeqCst), 4);
    }
}
