//! Work shared by threads: each takes the next piece when it has finished one.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::ScopedJoinHandle;

/// What `work` returns on each of `threads`, at least one. It is given numbers of pieces, ascending
/// from 0; together the threads get each of the `pieces` once.
///
/// After an error the others get no further piece; once all have ended, the error is returned, or a
/// panic goes on here.
pub fn in_turns<T: Send, E: Send>(
    threads: usize,
    pieces: usize,
    work: impl Fn(&mut dyn Iterator<Item = usize>) -> Result<T, E> + Sync,
) -> Result<Vec<T>, E> {
    let next = AtomicUsize::new(0);
    let work = || {
        let take = || Some(next.fetch_add(1, Ordering::Relaxed)).filter(|nth| *nth < pieces);
        work(&mut std::iter::from_fn(take)).inspect_err(|_| next.store(pieces, Ordering::Relaxed))
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads.max(1)).map(|_| scope.spawn(work)).collect();
        let join = |thread: ScopedJoinHandle<_>| thread.join().unwrap_or_else(|panic| resume_unwind(panic));
        let ended: Vec<Result<T, E>> = threads.into_iter().map(join).collect();
        ended.into_iter().collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_piece_is_taken_once_and_in_ascending_order_on_each_thread() {
        for (threads, pieces) in [(0, 5), (1, 5), (4, 1000), (4, 2), (3, 0)] {
            let work = |turns: &mut dyn Iterator<Item = usize>| Ok::<Vec<usize>, ()>(turns.collect());
            let taken = in_turns(threads, pieces, work).unwrap();
            assert_eq!(taken.len(), threads.max(1));
            assert!(taken.iter().all(|of| of.is_sorted()));
            let mut all = taken.concat();
            all.sort_unstable();
            assert_eq!(all, (0..pieces).collect::<Vec<_>>());
        }
    }

    #[test]
    fn after_an_error_no_thread_begins_another_piece() {
        let begun = AtomicUsize::new(0);
        let work = |turns: &mut dyn Iterator<Item = usize>| {
            for nth in turns {
                begun.fetch_add(1, Ordering::Relaxed);
                if nth == 2 {
                    return Err(nth);
                }
            }
            Ok(())
        };
        assert_eq!(in_turns(1, 1000, work), Err(2));
        assert_eq!(begun.into_inner(), 3);
    }
}
