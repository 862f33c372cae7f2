//! How many rows have which modality, whatever stands in that column.

use std::collections::BTreeMap;

use arrow_array::{Array, StringViewArray};

/// Modalities that are told apart; a corpus has a handful, a wrong column any number. Beyond that
/// the first by name are, so that it does not matter which come first, and those of the schema.
const MOST: usize = 100;
const SCHEMA: [&str; 3] = ["image", "metadata", "text"];
/// What all further ones are counted as, and rows without modality.
const OTHERS: &str = "(other)";
const NONE: &str = "(none)";

/// A text of up to 12 bytes lies in its view.
const SHORT: u32 = 12;

/// How many rows have which modality.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Modalities {
    named: BTreeMap<String, u64>,
    others: u64,
}

impl Modalities {
    /// Counts each row of the column.
    pub fn count(&mut self, column: &StringViewArray) {
        // A handful of values at most, as a rule: a list is faster than a map.
        let mut short: Vec<(u128, u64)> = Vec::new();
        for (row, view) in column.views().iter().enumerate() {
            if column.is_null(row) {
                self.put(NONE, 1);
            } else if *view as u32 > SHORT {
                self.put(column.value(row), 1);
            } else if let Some((_, count)) = short.iter_mut().find(|(known, _)| known == view) {
                *count += 1;
            } else if short.len() < MOST {
                short.push((*view, 1));
            } else {
                self.put(column.value(row), 1);
            }
        }
        for (view, count) in short {
            let length = view as u32 as usize;
            let text = view.to_le_bytes();
            self.put(&String::from_utf8_lossy(&text[4..4 + length]), count);
        }
    }

    /// Rows by the name of their modality.
    pub fn into_map(self) -> BTreeMap<String, u64> {
        let Modalities { named: mut map, others } = self;
        if others > 0 {
            *map.entry(OTHERS.to_owned()).or_default() += others;
        }
        map
    }

    pub fn add(&mut self, other: &Modalities) {
        self.others += other.others;
        other.named.iter().for_each(|(name, count)| self.put(name, *count));
    }

    fn put(&mut self, name: &str, count: u64) {
        if let Some(known) = self.named.get_mut(name) {
            *known += count;
            return;
        }
        self.named.insert(name.to_owned(), count);
        if self.named.len() > MOST {
            let mut names = self.named.keys().rev();
            let last = names.find(|name| !SCHEMA.contains(&name.as_str()));
            let last = last.expect("there are more than the schema has").clone();
            self.others += self.named.remove(&last).expect("it was just found");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modalities_are_counted_by_name_whatever_their_length() {
        let names =
            [Some("image"), None, Some("text"), Some("image"), Some("a rather long modality"), Some("")];
        let mut modalities = Modalities::default();
        modalities.count(&StringViewArray::from_iter(names));
        let expected = [("(none)", 1), ("", 1), ("a rather long modality", 1), ("image", 2), ("text", 1)];
        assert_eq!(modalities.into_map(), expected.map(|(name, count)| (name.to_owned(), count)).into());
    }

    #[test]
    fn a_column_of_anything_does_not_fill_the_memory() {
        let mut names: Vec<String> = (0..999).map(|n| format!("a wrong value {n}")).collect();
        names.insert(500, "text".into());
        let mut parts = names.chunks(100).map(|names| {
            let mut modalities = Modalities::default();
            modalities.count(&StringViewArray::from_iter_values(names));
            modalities
        });
        let mut modalities = parts.next().unwrap();
        parts.for_each(|part| modalities.add(&part));
        let map = modalities.into_map();
        assert_eq!(map.len(), MOST + 1);
        assert_eq!(map.values().sum::<u64>(), 1_000);
        assert_eq!((map[OTHERS], map["text"]), (900, 1));
    }
}
