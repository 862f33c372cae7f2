//! Multiplicities in power-of-two classes (1, 2-3, 4-7, ...), as tables and plots show them.

use onepull::commands::analyze::Multiplicity;

use crate::cli::human::count;

/// The objects with `low` to `high` references each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Class {
    pub low: u64,
    pub high: u64,
    pub objects: u64,
    pub references: u64,
    /// References beyond the first of each object.
    pub hits: u64,
}

impl Class {
    /// `1`, `2-3`, `1,024-2,047`.
    pub fn label(&self) -> String {
        if self.low == self.high {
            count(self.low)
        } else {
            format!("{}-{}", count(self.low), count(self.high))
        }
    }
}

/// All classes from 1 to the last that holds an object, empty ones included.
pub fn classes(histogram: &[Multiplicity]) -> Vec<Class> {
    let mut classes: Vec<Class> = Vec::new();
    for of in histogram.iter().filter(|of| of.k > 0 && of.objects > 0) {
        let class = of.k.ilog2() as usize;
        while classes.len() <= class {
            let low = 1 << classes.len();
            classes.push(Class { low, high: low + (low - 1), objects: 0, references: 0, hits: 0 });
        }
        classes[class].objects += of.objects;
        classes[class].references += of.objects * of.k;
        classes[class].hits += of.objects * (of.k - 1);
    }
    classes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(k: u64, objects: u64) -> Multiplicity {
        Multiplicity { k, objects, bytes: 0 }
    }

    #[test]
    fn classes_add_up_and_keep_their_gaps() {
        let classes = classes(&[of(1, 5), of(2, 2), of(3, 1), of(9, 1)]);
        let labels: Vec<_> = classes.iter().map(Class::label).collect();
        assert_eq!(labels, ["1", "2-3", "4-7", "8-15"]);
        let numbers: Vec<_> = classes.iter().map(|c| (c.objects, c.references, c.hits)).collect();
        assert_eq!(numbers, [(5, 5, 0), (3, 7, 4), (0, 0, 0), (1, 9, 8)]);
    }

    #[test]
    fn no_object_has_no_class() {
        assert_eq!(classes(&[]), []);
    }
}
