//! How many rows have which modality.

use std::collections::BTreeMap;

use arrow_array::{Array, StringViewArray};

/// Rows that are told apart by their modality; all others count together.
const NAMED: [&str; 3] = ["image", "metadata", "text"];
const OTHER: &str = "other";

/// How many rows have which modality.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Modalities {
    named: [u64; NAMED.len()],
    other: u64,
}

impl Modalities {
    /// Counts each row of the column.
    pub fn count(&mut self, column: &StringViewArray) {
        // A text of up to 12 bytes lies in its view, which is compared as one number.
        let views = StringViewArray::from_iter_values(NAMED);
        let views: [u128; NAMED.len()] = std::array::from_fn(|nth| views.views()[nth]);
        let before: u64 = self.named.iter().sum();
        for (row, view) in column.views().iter().enumerate() {
            if let Some(nth) = views.iter().position(|named| named == view).filter(|_| !column.is_null(row)) {
                self.named[nth] += 1;
            }
        }
        self.other += column.len() as u64 - (self.named.iter().sum::<u64>() - before);
    }

    /// Rows by the name of their modality; those without rows are left out.
    pub fn by_name(&self) -> BTreeMap<&'static str, u64> {
        let named = NAMED.into_iter().zip(self.named);
        named.chain([(OTHER, self.other)]).filter(|(_, rows)| *rows > 0).collect()
    }

    pub fn add(&mut self, other: &Modalities) {
        self.named.iter_mut().zip(other.named).for_each(|(rows, more)| *rows += more);
        self.other += other.other;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_but_the_three_of_the_schema_count_together() {
        let names =
            [Some("image"), None, Some("text"), Some("image"), Some("a rather long modality"), Some("")];
        let mut modalities = Modalities::default();
        modalities.count(&StringViewArray::from_iter(names));
        assert_eq!(modalities.by_name(), [("image", 2), ("text", 1), ("other", 3)].into());
        modalities.add(&modalities.clone());
        modalities.count(&StringViewArray::from_iter_values(["metadata"]));
        assert_eq!(modalities.by_name(), [("image", 4), ("text", 2), ("other", 6), ("metadata", 1)].into());
    }
}
