//! Which place each row of a sample has.

use super::table::SampleRow;

/// The rows of a sample, by place.
pub struct SampleLayout {
    /// Rows with a place among texts and images, by position.
    pub content: Vec<SampleEntry>,
    /// Rows (indices into the sample) that tell of the sample as a whole.
    pub metadata: Vec<usize>,
}

/// The place of a row.
pub struct SampleEntry {
    /// Index into the sample.
    pub row: usize,
    pub position: usize,
    /// What stands for its payload among the images.
    pub token: Option<String>,
    /// The extension of the member that holds the payload.
    pub extension: &'static str,
}

impl SampleLayout {
    /// Places rows at their positions. Where these are no places of a list (missing, negative,
    /// shared by rows, or so large that the list would be mostly gaps), the rows are numbered in
    /// their order instead, so that none is lost.
    pub fn of(sample: &[SampleRow]) -> SampleLayout {
        let (metadata, content): (Vec<usize>, Vec<usize>) =
            (0..sample.len()).partition(|&row| sample[row].is_metadata());
        let largest = 10 * sample.len() + 1000;
        let given: Option<Vec<usize>> = content
            .iter()
            .map(|&row| {
                sample[row].position.and_then(|at| usize::try_from(at).ok()).filter(|&at| at <= largest)
            })
            .collect();
        let numbers = || (0..content.len()).collect();
        let positions: Vec<usize> = given.filter(|given| are_distinct(given)).unwrap_or_else(numbers);
        let mut content: Vec<SampleEntry> = content
            .into_iter()
            .zip(positions)
            .map(|(row, position)| SampleEntry { row, position, token: None, extension: "" })
            .collect();
        content.sort_by_key(|place| place.position);
        SampleLayout { content, metadata }
    }

    /// How long the lists are that have one entry a position.
    pub fn positions(&self) -> usize {
        self.content.last().map_or(0, |last| last.position + 1)
    }

    /// One entry a position, `None` in the gaps.
    pub fn aligned<'a, T>(&'a self, mut entry: impl FnMut(&'a SampleEntry) -> Option<T>) -> Vec<Option<T>> {
        let mut list: Vec<Option<T>> = std::iter::repeat_with(|| None).take(self.positions()).collect();
        for place in &self.content {
            list[place.position] = entry(place);
        }
        list
    }
}

fn are_distinct(positions: &[usize]) -> bool {
    let mut sorted = positions.to_vec();
    sorted.sort_unstable();
    sorted.windows(2).all(|pair| pair[0] != pair[1])
}
