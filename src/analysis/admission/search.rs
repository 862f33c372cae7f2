//! Finds where the admission of each of many budgets ends, without sorting the table.
//!
//! The first pass sums the rows in cells by the leading bits of their keys. Prefix sums find the cell in
//! which each budget ends. The next pass divides only those cells, by further bits of the key, then by
//! size; a cell of few rows is kept and sorted. Tables of millions of rows take two to four passes,
//! however many rows tie.

use std::collections::BTreeMap;
use std::mem;

use super::super::table::{MultiplicityTable, ObjectSums, TableTotals};
use super::rank::{Candidate, Policy, Rank, Word};

/// Where an admission ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SearchGoal {
    /// Before the first object with which the bytes, and `overhead` bytes an object, would exceed
    /// `budget`; those that do so alone set aside.
    Bytes { budget: u64, overhead: u64 },
    /// After the object with which the hits reach this, at least 1.
    Hits(u64),
}

/// What was admitted: the beginning of an order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Prefix {
    pub sums: ObjectSums,
    /// Objects like the first one that is not admitted although it is no larger than the whole
    /// budget. `None` for a goal in hits.
    pub next: Option<Candidate>,
    /// Those of them that are admitted.
    pub next_admitted: u64,
}

/// Bits of the number of cells into which a whole table is divided at most: 128 between one power
/// of two and the next. Those in use fit a second level cache.
const FIRST_BITS: u32 = 18;

/// Bits of the number of cells into which a cell is divided at most.
const BITS: u32 = 11;

/// Bits of the number of cells into which even a few rows are divided.
const LEAST_BITS: u32 = 6;

/// No goal ends in a cell.
const NOWHERE: u32 = u32::MAX;

/// What is admitted by `policy` until each of `goals`, in their order. Cells of up to `few`
/// rows are sorted.
pub(super) fn search(
    table: &MultiplicityTable,
    policy: Policy,
    goals: &[SearchGoal],
    few: u64,
) -> Vec<Prefix> {
    match policy {
        // A function of its own for each, so that the policy is not asked for every object.
        Policy::Count => run(table, |k, size| Policy::Count.key(k, size), goals, few),
        Policy::Density => run(table, |k, size| Policy::Density.key(k, size), goals, few),
        Policy::Objective(_) => run(table, |k, size| policy.key(k, size), goals, few),
    }
}

fn run(
    table: &MultiplicityTable,
    key: impl Fn(u64, u64) -> f64,
    goals: &[SearchGoal],
    few: u64,
) -> Vec<Prefix> {
    let mut search = Search::new(&table.totals(), goals, few);
    let most = search.limits.last().copied().unwrap_or(0);
    while search.is_open() {
        table.recurring().for_each(|(k, size, objects)| {
            let key = key(k, size);
            // What is larger than every budget is set aside for all: it has no cell.
            if key > 0.0 && size <= most {
                search.place(Candidate { rank: Rank::new(key, k, size), k, size, objects });
            }
        });
        search.settle();
    }
    search.found
}

struct Search<'a> {
    goals: &'a [SearchGoal],
    /// Sizes above which objects are set aside, ascending, distinct.
    limits: Vec<u64>,
    found: Vec<Prefix>,
    /// The first is the root; nodes lie behind their parents.
    nodes: Vec<SearchNode>,
    /// Bytes of the largest object.
    largest: u64,
    few: u64,
}

/// A range of ranks in which some goals end.
enum SearchNode {
    /// Added up by cell in this pass.
    Counted { split: Split, cells: Cells, goals: Vec<usize> },
    /// Kept one by one in this pass.
    Kept { candidates: Vec<Candidate>, goals: Vec<usize> },
    /// The node of each cell, or `NOWHERE`.
    Divided { split: Split, nodes: Vec<u32> },
    /// All its goals are found.
    Settled,
}

/// A division of a range of ranks into cells.
#[derive(Clone, Copy)]
struct Split {
    word: Word,
    low: u64,
    high: u64,
    shift: u32,
}

struct Cells {
    /// Objects within every limit.
    common: Vec<RankCell>,
    /// Those of limits further up, by cell and the first limit that they are within.
    larger: BTreeMap<(usize, usize), RankCell>,
}

/// Rows and their sums, and the lowest and the highest value of the word that is divided: a cell of
/// one value needs no more passes over that word.
#[derive(Clone, Copy)]
struct RankCell {
    rows: u64,
    sums: ObjectSums,
    low: u64,
    high: u64,
}

/// The objects of a cell that have the same first limit that they are within.
struct CellPart {
    number: usize,
    limit: usize,
    cell: RankCell,
}

impl SearchGoal {
    /// Larger objects are set aside.
    pub fn limit(self) -> u64 {
        match self {
            SearchGoal::Bytes { budget, overhead } => budget.saturating_sub(overhead),
            SearchGoal::Hits(_) => u64::MAX,
        }
    }

    /// Whether the admission ends within objects of the sums `more`, coming from `sums`.
    fn ends(self, sums: &ObjectSums, more: &ObjectSums) -> bool {
        match self {
            SearchGoal::Bytes { budget, overhead } => {
                sums.with_overhead(overhead) + more.with_overhead(overhead) > budget.into()
            }
            SearchGoal::Hits(hits) => sums.hits + more.hits >= hits,
        }
    }

    /// How many of the objects of `candidate`, within which the admission ends, are admitted.
    fn admitted(self, sums: &ObjectSums, candidate: &Candidate) -> u64 {
        match self {
            SearchGoal::Bytes { budget, overhead } => {
                let left = u128::from(budget) - sums.with_overhead(overhead);
                (left / (u128::from(candidate.size) + u128::from(overhead))) as u64
            }
            SearchGoal::Hits(hits) => (hits - sums.hits).div_ceil(candidate.k - 1),
        }
    }
}

impl<'a> Search<'a> {
    fn new(totals: &TableTotals, goals: &'a [SearchGoal], few: u64) -> Search<'a> {
        let (objects, largest) = (totals.recurring.objects, totals.largest_bytes);
        let mut limits: Vec<u64> = goals.iter().map(|goal| goal.limit()).collect();
        limits.sort_unstable();
        limits.dedup();
        let split = Split::whole(Word::Key, largest, bits(objects, FIRST_BITS));
        let nodes = match goals {
            [] => Vec::new(),
            _ => vec![SearchNode::new(Some(split), (0..goals.len()).collect(), objects, few)],
        };
        Search { goals, limits, found: vec![Prefix::default(); goals.len()], nodes, largest, few }
    }

    fn is_open(&self) -> bool {
        self.nodes.iter().any(|node| matches!(node, SearchNode::Counted { .. } | SearchNode::Kept { .. }))
    }

    #[inline]
    fn place(&mut self, candidate: Candidate) {
        let Candidate { rank, k, size, objects } = candidate;
        let mut at = 0;
        loop {
            match &mut self.nodes[at] {
                SearchNode::Divided { split, nodes } => match nodes[split.cell(&rank)] {
                    NOWHERE => return,
                    node => at = node as usize,
                },
                SearchNode::Counted { split, cells, .. } => {
                    let (number, word) = (split.cell(&rank), rank.word(split.word));
                    if size <= self.limits[0] {
                        cells.common[number].add(word, &ObjectSums::new(k, size, objects));
                        return;
                    }
                    let limit = self.limits.partition_point(|&limit| limit < size);
                    let cell = cells.larger.entry((number, limit)).or_insert(RankCell::EMPTY);
                    cell.add(word, &ObjectSums::new(k, size, objects));
                    return;
                }
                SearchNode::Kept { candidates, .. } => {
                    candidates.push(candidate);
                    return;
                }
                SearchNode::Settled => return,
            }
        }
    }

    /// Settles the goals as far as the sums of this pass allow, and opens nodes for the rest.
    fn settle(&mut self) {
        for at in 0..self.nodes.len() {
            self.nodes[at] = match mem::replace(&mut self.nodes[at], SearchNode::Settled) {
                SearchNode::Counted { split, cells, goals } => self.divide(split, &cells.parts(), &goals),
                SearchNode::Kept { mut candidates, goals } => {
                    candidates.sort_unstable_by_key(|candidate| candidate.rank);
                    // Objects of an assumed size may be like those of a known one.
                    candidates.dedup_by(|next, first| {
                        let alike = (next.rank, next.size) == (first.rank, first.size);
                        first.objects += if alike { next.objects } else { 0 };
                        alike
                    });
                    goals.into_iter().for_each(|goal| self.finish(goal, &candidates));
                    SearchNode::Settled
                }
                node => node,
            };
        }
    }

    /// `parts` in ascending order of their cells.
    fn divide(&mut self, split: Split, parts: &[CellPart], goals: &[usize]) -> SearchNode {
        let mut nodes = vec![NOWHERE; split.cells()];
        let mut ending: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for &goal in goals {
            let limit = self.goals[goal].limit();
            for parts in parts.chunk_by(|a, b| a.number == b.number) {
                let mut more = ObjectSums::default();
                let fitting = parts.iter().filter(|part| self.limits[part.limit] <= limit);
                fitting.for_each(|part| more.add(&part.cell.sums));
                if self.goals[goal].ends(&self.found[goal].sums, &more) {
                    ending.entry(parts[0].number).or_default().push(goal);
                    break;
                }
                self.found[goal].sums.add(&more);
            }
        }
        for parts in parts.chunk_by(|a, b| a.number == b.number) {
            let Some(goals) = ending.remove(&parts[0].number) else { continue };
            let mut cell = RankCell::EMPTY;
            parts.iter().for_each(|part| cell.merge(&part.cell));
            nodes[parts[0].number] = self.nodes.len() as u32;
            self.nodes.push(self.inside(&cell, split.word, goals));
        }
        SearchNode::Divided { split, nodes }
    }

    /// A node for the rows of a cell; they differ in `word` or in those after it, or not at all.
    fn inside(&self, cell: &RankCell, word: Word, goals: Vec<usize>) -> SearchNode {
        let bits = bits(cell.rows, BITS);
        let split = if cell.low < cell.high {
            Some(Split::new(word, cell.low, cell.high, bits))
        } else {
            word.next().map(|word| Split::whole(word, self.largest, bits))
        };
        SearchNode::new(split, goals, cell.rows, self.few)
    }

    /// `candidates` in the order of their ranks.
    fn finish(&mut self, goal: usize, candidates: &[Candidate]) {
        let (found, goal) = (&mut self.found[goal], self.goals[goal]);
        for candidate in candidates.iter().filter(|candidate| candidate.size <= goal.limit()) {
            let Candidate { k, size, objects, .. } = *candidate;
            let all = ObjectSums::new(k, size, objects);
            if !goal.ends(&found.sums, &all) {
                found.sums.add(&all);
                continue;
            }
            let admitted = goal.admitted(&found.sums, candidate);
            found.sums.add(&ObjectSums::new(k, size, admitted));
            if matches!(goal, SearchGoal::Bytes { .. }) {
                (found.next, found.next_admitted) = (Some(*candidate), admitted);
            }
            return;
        }
    }
}

/// Bits of the number of cells for this many rows: about one cell a row, within limits.
fn bits(rows: u64, most: u32) -> u32 {
    rows.max(1).ilog2().clamp(LEAST_BITS, most)
}

impl SearchNode {
    /// Without a `split` the rows have one rank in common.
    fn new(split: Option<Split>, goals: Vec<usize>, rows: u64, few: u64) -> SearchNode {
        match split {
            Some(split) if rows > few => {
                let cells = Cells { common: vec![RankCell::EMPTY; split.cells()], larger: BTreeMap::new() };
                SearchNode::Counted { split, cells, goals }
            }
            _ => SearchNode::Kept { candidates: Vec::new(), goals },
        }
    }
}

impl Split {
    fn whole(word: Word, largest: u64, bits: u32) -> Split {
        let (low, high) = word.bounds(largest);
        Split::new(word, low, high, bits)
    }

    /// Into at most 2^`bits` cells of equal width, a power of two.
    fn new(word: Word, low: u64, high: u64, bits: u32) -> Split {
        let width = 64 - (high - low).leading_zeros();
        Split { word, low, high, shift: width.saturating_sub(bits) }
    }

    #[inline]
    fn cell(&self, rank: &Rank) -> usize {
        ((rank.word(self.word) - self.low) >> self.shift) as usize
    }

    fn cells(&self) -> usize {
        ((self.high - self.low) >> self.shift) as usize + 1
    }
}

impl RankCell {
    const EMPTY: RankCell = RankCell {
        rows: 0,
        sums: ObjectSums { objects: 0, bytes: 0, hits: 0, hit_bytes: 0 },
        low: u64::MAX,
        high: 0,
    };

    #[inline]
    fn add(&mut self, word: u64, sums: &ObjectSums) {
        self.merge(&RankCell { rows: 1, sums: *sums, low: word, high: word });
    }

    #[inline]
    fn merge(&mut self, other: &RankCell) {
        self.rows += other.rows;
        self.sums.add(&other.sums);
        self.low = self.low.min(other.low);
        self.high = self.high.max(other.high);
    }
}

impl Cells {
    /// Those in use, in ascending order of their cells.
    fn parts(self) -> Vec<CellPart> {
        let common = self.common.into_iter().enumerate().filter(|(_, cell)| cell.sums.objects > 0);
        let common = common.map(|(number, cell)| CellPart { number, limit: 0, cell });
        let larger = self.larger.into_iter().map(|((number, limit), cell)| CellPart { number, limit, cell });
        let mut parts: Vec<_> = common.chain(larger).collect();
        parts.sort_by_key(|part| part.number);
        parts
    }
}
