//! The static oracle by value density for caches of limited size, without a sort.
//!
//! Objects fall into classes of almost equal value density, (k-1)/size: 64 classes between one
//! power of two and the next. Admission takes the classes from the densest down, which needs a
//! few sums per class and no object.

/// Bits of a density's mantissa that tell classes apart.
const FINENESS: u32 = 6;

/// The lowest density above 0, 1/2^64, as an exponent and the leading bits of its mantissa.
const LOWEST: u64 = (1023 - 64) << FINENESS;

/// The class of the objects that are referenced once: they never pay.
const NEVER: usize = 0;

/// The class of the objects of size 0, above the densest others, 2^64.
const INFINITE: usize = (128 << FINENESS) + 2;

/// What is admitted to a cache before the pass, and what it gives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Admitted {
    pub objects: u64,
    /// Never more than the budget.
    pub bytes: u64,
    /// References beyond the first of each admitted object.
    pub hits: u64,
    /// Bytes of these references.
    pub hit_bytes: u128,
}

/// The objects of known size, by value density.
#[derive(Clone)]
pub(super) struct Densities(Box<[Cell]>);

#[derive(Clone, Copy, Default)]
struct Cell {
    objects: u64,
    hits: u64,
    bytes: u128,
    hit_bytes: u128,
}

impl Default for Densities {
    fn default() -> Densities {
        Densities(vec![Cell::default(); INFINITE + 1].into())
    }
}

impl Densities {
    /// Counts an object with `k >= 1` references.
    #[inline]
    pub fn add(&mut self, k: u64, size: u64) {
        let cell = &mut self.0[class(k, size)];
        cell.objects += 1;
        cell.hits += k - 1;
        cell.bytes += u128::from(size);
        cell.hit_bytes = cell.hit_bytes.saturating_add(u128::from(size) * u128::from(k - 1));
    }

    pub fn merge(&mut self, other: &Densities) {
        for (cell, more) in self.0.iter_mut().zip(&other.0) {
            cell.objects += more.objects;
            cell.hits += more.hits;
            cell.bytes += more.bytes;
            cell.hit_bytes = cell.hit_bytes.saturating_add(more.hit_bytes);
        }
    }

    /// Admits whole classes from the densest down. Of a class that does not fit, as many objects
    /// of its mean size as do; then it goes on with the classes below.
    ///
    /// `hits` never exceed the optimum over all choices, fractions of objects allowed. They fall
    /// short of it by less than 1/64 of the hits taken from the first class that does not fit
    /// whole, plus the hits of about one object of it: densities within a class differ by 1/64
    /// at most. `objects` and `hit_bytes` are those of the mean object of that class.
    pub fn admitted(&self, budget_bytes: u64) -> Admitted {
        let mut admitted = Admitted::default();
        for cell in self.0[NEVER + 1..].iter().rev().filter(|cell| cell.objects > 0) {
            let left = budget_bytes - admitted.bytes;
            let part = cell.fitting(left);
            admitted.objects += part.objects;
            admitted.bytes += u64::try_from(part.bytes).expect("no more than what is left");
            admitted.hits += part.hits;
            admitted.hit_bytes = admitted.hit_bytes.saturating_add(part.hit_bytes);
        }
        admitted
    }
}

impl Cell {
    /// As many objects of the mean size as `left` bytes hold.
    fn fitting(&self, left: u64) -> Cell {
        let left = u128::from(left);
        if self.bytes <= left {
            return *self;
        }
        let all = u128::from(self.objects);
        let objects = all * left / self.bytes;
        // Whole and rest apart, because `sum * objects` may not fit.
        let share = |sum: u128| sum / all * objects + sum % all * objects / all;
        // Rounded up: what they take must not be left to the classes below.
        let bytes = self.bytes / all * objects + (self.bytes % all * objects).div_ceil(all);
        let narrow = |sum: u128| u64::try_from(sum).expect("less than the whole class");
        Cell {
            objects: narrow(objects),
            hits: narrow(share(self.hits.into())),
            bytes,
            hit_bytes: share(self.hit_bytes),
        }
    }
}

/// The number of an object's class, ascending with its density.
///
/// The exponent and leading mantissa bits of a float, read as an integer, ascend with it; a
/// logarithm would cost more than all the rest. Objects that are referenced once take the same
/// way, since a branch on something so frequent and irregular would be mispredicted: 0 falls below
/// `LOWEST`.
#[inline]
fn class(k: u64, size: u64) -> usize {
    if size == 0 {
        return if k >= 2 { INFINITE } else { NEVER };
    }
    let density = (k - 1) as f64 / size as f64;
    let leading = density.to_bits() >> (f64::MANTISSA_DIGITS - 1 - FINENESS);
    leading.saturating_sub(LOWEST - 1) as usize
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn densities(objects: &[(u64, u64)]) -> Densities {
        let mut densities = Densities::default();
        objects.iter().for_each(|&(k, size)| densities.add(k, size));
        densities
    }

    /// Fills the budget in order of density, with a fraction of the first that does not fit.
    fn optimum(objects: &[(u64, u64)], budget: u64) -> f64 {
        let mut sorted = objects.to_vec();
        sorted.sort_by(|a, b| (b.1 * (a.0 - 1)).cmp(&(a.1 * (b.0 - 1))).reverse());
        let (mut left, mut hits) = (budget as f64, 0.0);
        for (k, size) in sorted {
            let fitting = if size as f64 <= left { 1.0 } else { left / size as f64 };
            hits += (k - 1) as f64 * fitting;
            left -= size as f64 * fitting;
        }
        hits
    }

    #[test]
    fn the_densest_objects_are_admitted_first() {
        // Densities 1, 9/10, infinite, 1/50.
        let found = densities(&[(11, 10), (10, 10), (3, 0), (2, 50)]);
        let admitted = |objects, bytes, hits, hit_bytes| Admitted { objects, bytes, hits, hit_bytes };
        assert_eq!(found.admitted(0), admitted(1, 0, 2, 0));
        assert_eq!(found.admitted(19), admitted(2, 10, 12, 100));
        assert_eq!(found.admitted(20), admitted(3, 20, 21, 190));
        assert_eq!(found.admitted(70), admitted(4, 70, 22, 240));
        assert_eq!(found.admitted(u64::MAX), admitted(4, 70, 22, 240));
    }

    #[test]
    fn objects_that_are_referenced_once_are_never_admitted() {
        assert_eq!(densities(&[(1, 0), (1, 1), (1, 1 << 60)]).admitted(u64::MAX), Admitted::default());
    }

    #[test]
    fn an_object_larger_than_the_budget_does_not_bar_the_others() {
        let found = densities(&[(1000, 100), (2, 10)]);
        assert_eq!(found.admitted(99), Admitted { objects: 1, bytes: 10, hits: 1, hit_bytes: 10 });
    }

    #[test]
    fn bytes_of_a_mean_object_are_not_left_to_the_classes_below() {
        // Both of density 2, 1.5 bytes and 3 hits in the mean; then one of density 1.
        let found = densities(&[(3, 1), (5, 2), (2, 1)]);
        assert_eq!(found.admitted(2), Admitted { objects: 1, bytes: 2, hits: 3, hit_bytes: 5 });
    }

    #[test]
    fn the_extremes_have_classes() {
        assert_eq!(class(2, u64::MAX), NEVER + 1);
        assert_eq!(class(u64::MAX, 1), INFINITE - 1);
        assert_eq!(class(u64::MAX, 0), INFINITE);
        assert_eq!([class(1, 0), class(1, 1), class(1, u64::MAX)], [NEVER; 3]);
        let found = densities(&[(u64::MAX, u64::MAX), (2, u64::MAX)]);
        assert_eq!(found.admitted(u64::MAX).hits, u64::MAX - 1);
    }

    proptest! {
        #[test]
        fn a_class_spans_one_sixty_fourth_at_most(k in 2u64..10_000, size in 1u64..1 << 40, more in 1u64..1 << 20) {
            let (dense, less) = (class(k, size), class(k, size + more));
            prop_assert!(less <= dense);
            if less == dense {
                prop_assert!((size + more) as f64 / size as f64 <= 1.0 + 1.0 / 64.0 + 1e-12);
            }
        }

        #[test]
        fn hits_are_as_close_to_the_optimum_as_promised(
            objects in prop::collection::vec((2u64..50, 1u64..100), 1..200),
            budget in 0u64..12_000,
        ) {
            let (found, best) = (densities(&objects).admitted(budget), optimum(&objects, budget));
            let one = objects.iter().map(|object| object.0).max().unwrap() as f64;
            prop_assert!(found.hits as f64 <= best + 1e-6);
            prop_assert!(found.hits as f64 >= best * (63.0 / 64.0) - one * 65.0 / 64.0);
            prop_assert!(found.bytes <= budget);
        }

        #[test]
        fn a_larger_budget_never_gives_fewer_hits(
            objects in prop::collection::vec((2u64..50, 0u64..100), 1..50),
            budget in 0u64..3000,
            more in 0u64..50,
        ) {
            let found = densities(&objects);
            // One hit of each class may be lost to rounding.
            let (less, more) = (found.admitted(budget).hits, found.admitted(budget + more).hits);
            prop_assert!(less <= more + objects.len() as u64);
        }
    }
}
