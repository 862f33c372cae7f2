//! A bound on what is in flight: bytes that are being read and handed over.

use parking_lot::{Condvar, Mutex};

/// The bound. Requests in flight are bounded by the threads, each of which makes one at a time.
pub struct InFlight {
    limit: u64,
    taken: Mutex<u64>,
    given_back: Condvar,
}

/// Bytes in flight, until it is dropped.
pub struct Flying<'a> {
    of: &'a InFlight,
    bytes: u64,
}

impl InFlight {
    pub fn new(limit: u64) -> InFlight {
        InFlight { limit, taken: Mutex::default(), given_back: Condvar::new() }
    }

    /// Waits until `bytes` more fit, or until they are alone. Whoever holds some is reading or handing
    /// over, and needs no more.
    pub fn take(&self, bytes: u64) -> Flying<'_> {
        let mut taken = self.taken.lock();
        self.given_back
            .wait_while(&mut taken, |taken| *taken > 0 && taken.saturating_add(bytes) > self.limit);
        *taken = taken.saturating_add(bytes);
        Flying { of: self, bytes }
    }
}

impl Drop for Flying<'_> {
    fn drop(&mut self) {
        *self.of.taken.lock() -= self.bytes;
        self.of.given_back.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_wait_for_room_and_too_many_of_them_for_being_alone() {
        let in_flight = InFlight::new(100);
        let most = Mutex::new(0);
        std::thread::scope(|scope| {
            for bytes in [30, 60, 100, 1000, 10, 20, 1000, 50] {
                let (in_flight, most) = (&in_flight, &most);
                scope.spawn(move || {
                    let _flying = in_flight.take(bytes);
                    let taken = *in_flight.taken.lock();
                    assert!(taken <= 100 || taken == 1000, "{taken}");
                    let mut most = most.lock();
                    *most = taken.max(*most);
                });
            }
        });
        assert_eq!((most.into_inner(), *in_flight.taken.lock()), (1000, 0));
    }
}
