//! Adjacent byte ranges of one file become one request.

use std::ops::Range;

/// How far apart ranges may lie to share a request, and how long a shared request may grow.
/// Both in bytes. A single range longer than `cap` stays one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coalesce {
    pub gap: u64,
    pub cap: u64,
}

/// For files on this machine: a gap costs less than another system call up to about 64 KiB, and
/// 8 MiB are enough for full speed while they keep every thread busy.
pub const LOCAL: Coalesce = Coalesce { gap: 64 << 10, cap: 8 << 20 };

/// One request: the bytes `[start, end)`, which cover the input ranges `ranges`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Merged {
    pub start: u64,
    pub end: u64,
    /// Indices into the slice given to [`coalesce`].
    pub ranges: Range<usize>,
}

/// Merges `ranges`, each `(start, end)` with `start <= end`, sorted by start, into requests.
///
/// Every range lies inside exactly one request, in order. Overlapping ranges share a request
/// when the cap allows it.
pub fn coalesce(ranges: &[(u64, u64)], rule: Coalesce) -> Vec<Merged> {
    let mut merged: Vec<Merged> = Vec::new();
    for (index, &(start, end)) in ranges.iter().enumerate() {
        match merged.last_mut() {
            Some(last)
                if start.saturating_sub(last.end) <= rule.gap
                    && end.max(last.end) - last.start <= rule.cap =>
            {
                last.end = last.end.max(end);
                last.ranges.end = index + 1;
            }
            _ => merged.push(Merged { start, end, ranges: index..index + 1 }),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn neighbours_share_a_request_until_the_cap() {
        let rule = Coalesce { gap: 10, cap: 100 };
        let merged = coalesce(&[(0, 20), (30, 60), (71, 80), (81, 100), (101, 300), (400, 400)], rule);
        let found: Vec<_> = merged.iter().map(|m| (m.start, m.end, m.ranges.clone())).collect();
        assert_eq!(found, [(0, 60, 0..2), (71, 100, 2..4), (101, 300, 4..5), (400, 400, 5..6)]);
        assert!(coalesce(&[], rule).is_empty());
    }

    proptest! {
        #[test]
        fn every_range_lies_in_exactly_one_request_in_order(
            mut ranges in prop::collection::vec((0u64..10_000, 0u64..500), 0..60),
            gap in 0u64..200,
            cap in 1u64..2_000,
        ) {
            ranges.iter_mut().for_each(|range| range.1 += range.0);
            ranges.sort_unstable();
            let merged = coalesce(&ranges, Coalesce { gap, cap });
            let mut next = 0;
            for request in &merged {
                prop_assert_eq!(request.ranges.start, next);
                next = request.ranges.end;
                let inside = &ranges[request.ranges.clone()];
                prop_assert_eq!(request.start, inside[0].0);
                prop_assert_eq!(request.end, inside.iter().map(|r| r.1).max().unwrap());
                prop_assert!(inside.len() == 1 || request.end - request.start <= cap);
            }
            prop_assert_eq!(next, ranges.len());
        }
    }
}
