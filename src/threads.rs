//! Several threads that do the same work, each taking the next piece when it is done with one.

use std::panic::resume_unwind;

/// What `work` returns on each of `threads`, at least one. A panic of one of them goes on here once
/// all have ended.
pub fn on_threads<T: Send>(threads: usize, work: impl Fn() -> T + Sync) -> Vec<T> {
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads.max(1)).map(|_| scope.spawn(&work)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic))).collect()
    })
}
