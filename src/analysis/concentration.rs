//! How many of the hits the most referenced objects give.

use super::Class;

/// The most referenced objects of a corpus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Top {
    pub objects: u64,
    /// References beyond the first of each, the sum of k-1.
    pub hits: u64,
}

/// The hits of the top `share` of the objects, 0 to 1.
///
/// Their number is rounded to the nearest, but is at least one if there are any; of a class into
/// which the boundary falls, a part is taken. `classes` in ascending order of k.
pub fn top(classes: &[Class], share: f64) -> Top {
    let all: u64 = classes.iter().map(|class| class.objects).sum();
    let objects = ((share * all as f64).round() as u64).clamp(all.min(1), all);
    let (mut left, mut hits) = (objects, 0);
    for class in classes.iter().rev() {
        let taken = class.objects.min(left);
        hits += taken * (class.k - 1);
        left -= taken;
    }
    Top { objects, hits }
}

#[cfg(test)]
mod tests {
    use super::super::samples::table;
    use super::*;

    #[test]
    fn a_class_is_split_where_the_boundary_falls_into_it() {
        let classes = table(&[(1, 600), (2, 385), (10, 14), (100, 1)]);
        assert_eq!(top(&classes, 0.001), Top { objects: 1, hits: 99 });
        assert_eq!(top(&classes, 0.01), Top { objects: 10, hits: 99 + 9 * 9 });
        assert_eq!(top(&classes, 0.1), Top { objects: 100, hits: 99 + 14 * 9 + 85 });
        assert_eq!(top(&classes, 1.0), Top { objects: 1000, hits: 99 + 14 * 9 + 385 });
    }

    #[test]
    fn the_top_of_a_few_objects_is_one_of_them() {
        assert_eq!(top(&table(&[(3, 8)]), 0.001), Top { objects: 1, hits: 2 });
        assert_eq!(top(&[], 0.1), Top { objects: 0, hits: 0 });
    }
}
