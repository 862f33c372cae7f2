//! Finds where the admission of each of many budgets ends, without sorting the table.
//!
//! The first pass adds the objects up in cells of the leading bits of their keys. Prefix sums name
//! the cell in which each budget ends; the next pass divides only those cells, by further bits of
//! the key, then by size, then by digest; a cell of few objects is kept and sorted. Tables of
//! millions of objects take two to four passes, whatever share of the objects ties.

use std::collections::BTreeMap;
use std::mem;

use super::super::objects::{Objects, Sums, Totals};
use super::order::{Candidate, Policy, Rank, Word};

/// Where an admission ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Goal {
    /// Before the first object with which the bytes, and `overhead` bytes an object, would exceed
    /// `budget`; those that do so alone set aside.
    Bytes { budget: u64, overhead: u64 },
    /// After the object with which the hits reach this, at least 1.
    Hits(u64),
}

/// What was admitted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Found {
    pub sums: Sums,
    /// The first object that is not admitted although it is no larger than the whole budget.
    /// `None` for a goal in hits.
    pub next: Option<Candidate>,
}

/// Bits of the number of cells into which a whole table is divided at most: 128 between one power
/// of two and the next. Those in use fit a second level cache.
const FIRST_BITS: u32 = 18;

/// Bits of the number of cells into which a cell is divided at most.
const BITS: u32 = 11;

/// Bits of the number of cells into which even a few objects are divided.
const LEAST_BITS: u32 = 6;

/// No goal ends in a cell.
const NOWHERE: u32 = u32::MAX;

/// What is admitted by `policy` until each of `goals`, in their order. Cells of up to `few`
/// objects are sorted.
pub(super) fn search(objects: &Objects, policy: Policy, goals: &[Goal], few: u64) -> Vec<Found> {
    match policy {
        // A function of its own for each, so that the policy is not asked for every object.
        Policy::Count => run(objects, |k, size| Policy::Count.key(k, size), goals, few),
        Policy::Density => run(objects, |k, size| Policy::Density.key(k, size), goals, few),
        Policy::Objective(_) => run(objects, |k, size| policy.key(k, size), goals, few),
    }
}

fn run(objects: &Objects, key: impl Fn(u64, u64) -> f64, goals: &[Goal], few: u64) -> Vec<Found> {
    let mut search = Search::new(&objects.totals(), goals, few);
    let most = search.limits.last().copied().unwrap_or(0);
    while search.is_open() {
        objects.recurring().for_each(|(digest, k, size)| {
            let key = key(k, size);
            // What is larger than every budget is set aside for all: it has no cell.
            if key > 0.0 && size <= most {
                search.place(key, digest, k, size);
            }
        });
        search.settle();
    }
    search.found
}

struct Search<'a> {
    goals: &'a [Goal],
    /// Sizes above which objects are set aside, ascending, distinct.
    limits: Vec<u64>,
    found: Vec<Found>,
    /// The first is the root; nodes lie behind their parents.
    nodes: Vec<Node>,
    /// Bytes of the largest object.
    largest: u64,
    few: u64,
}

/// A range of ranks in which some goals end.
enum Node {
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
    common: Vec<Cell>,
    /// Those of limits further up, by cell and the first limit that they are within.
    larger: BTreeMap<(usize, usize), Cell>,
}

/// Sums, and the lowest and the highest value of the word that is divided: a cell of one value
/// needs no more passes over that word.
#[derive(Clone, Copy)]
struct Cell {
    sums: Sums,
    low: u64,
    high: u64,
}

/// The objects of a cell that have the same first limit that they are within.
struct Part {
    number: usize,
    limit: usize,
    cell: Cell,
}

impl Goal {
    /// Larger objects are set aside.
    pub fn limit(self) -> u64 {
        match self {
            Goal::Bytes { budget, overhead } => budget.saturating_sub(overhead),
            Goal::Hits(_) => u64::MAX,
        }
    }

    /// Whether the admission ends within objects of the sums `more`, coming from `sums`.
    fn ends(self, sums: &Sums, more: &Sums) -> bool {
        match self {
            Goal::Bytes { budget, overhead } => {
                sums.with_overhead(overhead) + more.with_overhead(overhead) > budget.into()
            }
            Goal::Hits(hits) => sums.hits + more.hits >= hits,
        }
    }
}

impl<'a> Search<'a> {
    fn new(totals: &Totals, goals: &'a [Goal], few: u64) -> Search<'a> {
        let (objects, largest) = (totals.recurring.objects, totals.largest_bytes);
        let mut limits: Vec<u64> = goals.iter().map(|goal| goal.limit()).collect();
        limits.sort_unstable();
        limits.dedup();
        let split = Split::whole(Word::Key, largest, bits(objects, FIRST_BITS));
        let nodes = match goals {
            [] => Vec::new(),
            _ => vec![Node::new(Some(split), (0..goals.len()).collect(), objects, few)],
        };
        Search { goals, limits, found: vec![Found::default(); goals.len()], nodes, largest, few }
    }

    fn is_open(&self) -> bool {
        self.nodes.iter().any(|node| matches!(node, Node::Counted { .. } | Node::Kept { .. }))
    }

    #[inline]
    fn place(&mut self, key: f64, digest: u64, k: u64, size: u64) {
        let rank = Rank::new(key, size, digest);
        let mut at = 0;
        loop {
            match &mut self.nodes[at] {
                Node::Divided { split, nodes } => match nodes[split.cell(&rank)] {
                    NOWHERE => return,
                    node => at = node as usize,
                },
                Node::Counted { split, cells, .. } => {
                    let (number, word) = (split.cell(&rank), rank.word(split.word));
                    if size <= self.limits[0] {
                        cells.common[number].add(word, &Sums::of(k, size));
                        return;
                    }
                    let limit = self.limits.partition_point(|&limit| limit < size);
                    let cell = cells.larger.entry((number, limit)).or_insert(Cell::EMPTY);
                    cell.add(word, &Sums::of(k, size));
                    return;
                }
                Node::Kept { candidates, .. } => {
                    candidates.push(Candidate { rank, k, size });
                    return;
                }
                Node::Settled => return,
            }
        }
    }

    /// Takes the goals as far as the sums of this pass tell, and opens nodes for the rest.
    fn settle(&mut self) {
        for at in 0..self.nodes.len() {
            self.nodes[at] = match mem::replace(&mut self.nodes[at], Node::Settled) {
                Node::Counted { split, cells, goals } => self.divide(split, &cells.parts(), &goals),
                Node::Kept { mut candidates, goals } => {
                    candidates.sort_unstable_by_key(|candidate| candidate.rank);
                    goals.into_iter().for_each(|goal| self.finish(goal, &candidates));
                    Node::Settled
                }
                node => node,
            };
        }
    }

    /// `parts` in ascending order of their cells.
    fn divide(&mut self, split: Split, parts: &[Part], goals: &[usize]) -> Node {
        let mut nodes = vec![NOWHERE; split.cells()];
        let mut ending: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for &goal in goals {
            let limit = self.goals[goal].limit();
            for parts in parts.chunk_by(|a, b| a.number == b.number) {
                let mut more = Sums::default();
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
            let mut cell = Cell::EMPTY;
            parts.iter().for_each(|part| cell.merge(&part.cell));
            nodes[parts[0].number] = self.nodes.len() as u32;
            self.nodes.push(self.inside(&cell, split.word, goals));
        }
        Node::Divided { split, nodes }
    }

    /// A node for the objects of a cell; they differ in `word` or in those after it, or not at all.
    fn inside(&self, cell: &Cell, word: Word, goals: Vec<usize>) -> Node {
        let bits = bits(cell.sums.objects, BITS);
        let split = if cell.low < cell.high {
            Some(Split::new(word, cell.low, cell.high, bits))
        } else {
            word.next().map(|word| Split::whole(word, self.largest, bits))
        };
        Node::new(split, goals, cell.sums.objects, self.few)
    }

    /// `candidates` in the order of their ranks.
    fn finish(&mut self, goal: usize, candidates: &[Candidate]) {
        let (found, goal) = (&mut self.found[goal], self.goals[goal]);
        for candidate in candidates.iter().filter(|candidate| candidate.size <= goal.limit()) {
            let more = Sums::of(candidate.k, candidate.size);
            let ends = goal.ends(&found.sums, &more);
            if ends && matches!(goal, Goal::Bytes { .. }) {
                found.next = Some(*candidate);
                return;
            }
            found.sums.add(&more);
            if ends {
                return;
            }
        }
    }
}

/// Of the number of cells for so many objects: about one cell an object, within limits.
fn bits(objects: u64, most: u32) -> u32 {
    objects.max(1).ilog2().clamp(LEAST_BITS, most)
}

impl Node {
    /// Without a `split` the objects have one rank in common.
    fn new(split: Option<Split>, goals: Vec<usize>, objects: u64, few: u64) -> Node {
        match split {
            Some(split) if objects > few => {
                let cells = Cells { common: vec![Cell::EMPTY; split.cells()], larger: BTreeMap::new() };
                Node::Counted { split, cells, goals }
            }
            _ => Node::Kept { candidates: Vec::new(), goals },
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

impl Cell {
    const EMPTY: Cell =
        Cell { sums: Sums { objects: 0, bytes: 0, hits: 0, hit_bytes: 0 }, low: u64::MAX, high: 0 };

    #[inline]
    fn add(&mut self, word: u64, sums: &Sums) {
        self.merge(&Cell { sums: *sums, low: word, high: word });
    }

    #[inline]
    fn merge(&mut self, other: &Cell) {
        self.sums.add(&other.sums);
        self.low = self.low.min(other.low);
        self.high = self.high.max(other.high);
    }
}

impl Cells {
    /// Those in use, in ascending order of their cells.
    fn parts(self) -> Vec<Part> {
        let common = self.common.into_iter().enumerate().filter(|(_, cell)| cell.sums.objects > 0);
        let common = common.map(|(number, cell)| Part { number, limit: 0, cell });
        let larger = self.larger.into_iter().map(|((number, limit), cell)| Part { number, limit, cell });
        let mut parts: Vec<_> = common.chain(larger).collect();
        parts.sort_by_key(|part| part.number);
        parts
    }
}
