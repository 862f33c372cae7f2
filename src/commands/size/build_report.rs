//! From the multiplicity table to the report: curves, the answers read from them, and advice in plain
//! sentences.

use super::eviction_bounds::{EvictionHits, eviction_hits};
use super::*;
use crate::analysis::admission::{self, Admission, Policy};
use crate::analysis::cache_sizes::{curve_sizes, round_sizes};
use crate::analysis::cost::CacheWork;
use crate::analysis::histogram::Histogram;
use crate::analysis::table::{MultiplicityTable, ObjectSums, TableTotals};
use crate::analysis::trace::Trace;
use crate::commands::format::count;

/// All of the report that follows from the table; errors, advice and times are the caller's.
pub fn build_report(table: &MultiplicityTable, trace: Option<&Trace>, options: &Options) -> Report {
    let totals = table.totals();
    let share = |part: u64| part as f64 / totals.objects.max(1) as f64;
    let sized = totals.objects - totals.unsized_objects;
    let assumed = table.assumed().map_or(0, |_| totals.unsized_objects);
    let mut budgets = options.budgets.clone();
    budgets.sort_unstable();
    budgets.dedup();
    if budgets.is_empty() && totals.recurring.hits > 0 {
        budgets = round_sizes(totals.unique_bytes, 100);
    }
    let points = curve_sizes(totals.recurring.bytes, totals.unique_bytes);
    let sizes = [&budgets[..], &points].concat();
    // The curves take longest, and one of them waits for another.
    let (curves, (histogram, (competing, order), knee)) = rayon::join(
        || Curves::new(table, &totals, options, &budgets, &points),
        || {
            let histogram = table.histogram();
            let competing = eviction_hits(table, &totals, histogram.buckets(), trace, &sizes);
            (histogram, competing, admission::knee(table, Policy::Density))
        },
    );
    let (at_budgets, at_points) = competing.split_at(budgets.len());
    let policy = own_policy(options.objective);
    Report {
        objective: name(options.objective),
        cost_without_cache: policy.map(|_| options.objective.without_cache(&totals)),
        references: totals.references,
        objects: totals.objects,
        singletons: histogram.singletons(),
        unique_bytes: narrow(totals.unique_bytes),
        reference_bytes: narrow(totals.reference_bytes),
        sized_share: if totals.objects == 0 { 0.0 } else { share(sized) },
        assumed_share: share(assumed),
        ceiling: histogram.ceiling(),
        byte_ceiling: (totals.reference_bytes > 0)
            .then(|| totals.recurring.hit_bytes as f64 / totals.reference_bytes as f64),
        ceiling_bytes: narrow(totals.recurring.bytes),
        ceiling_objects: totals.recurring.objects,
        equivalents: curves.equivalents(),
        targets: curves.targets(),
        knee_bytes: (totals.recurring.hits > 0).then(|| narrow(knee.bytes)),
        worthwhile_bytes: policy
            .map(|policy| admission::worthwhile(table, policy))
            .filter(|all| all.objects > 0)
            .map(|all| narrow(all.bytes)),
        break_even: break_even(&histogram, options.objective),
        order,
        budgets: curves.budgets(at_budgets),
        curve: curves.curve(at_points),
        ..Report::default()
    }
}

/// What the lines of a report are read from. Each policy goes through its order once.
struct Curves<'a> {
    totals: &'a TableTotals,
    objective: Objective,
    targets: &'a [f64],
    count: AdmittedByPolicy,
    density: AdmittedByPolicy,
    own: Option<AdmittedByPolicy>,
    /// What the best cache without a limit saves, in the unit of the objective.
    best: f64,
    /// The smallest caches by count with the hits of each budget by density.
    same_by_count: Vec<Option<ObjectSums>>,
}

/// What one policy admits.
struct AdmittedByPolicy {
    budgets: Vec<Admission>,
    points: Vec<Admission>,
    /// The shortest prefix of the order that reaches each target.
    targets: Vec<Option<ObjectSums>>,
}

impl AdmittedByPolicy {
    /// Bytes of the smallest known cache with so many hits: `prefix`, the part of the order that has
    /// them, or one of the admissions. These may be smaller, since they set objects larger than the
    /// cache aside.
    fn smallest(&self, prefix: &Option<ObjectSums>, hits: u64) -> Option<u64> {
        let all = self.budgets.iter().chain(&self.points).map(|admission| &admission.admitted);
        let enough = all.filter(|sums| sums.hits >= hits).chain(prefix);
        enough.map(|sums| narrow(sums.bytes)).min()
    }
}

impl<'a> Curves<'a> {
    fn new(
        table: &'a MultiplicityTable,
        totals: &'a TableTotals,
        options: &'a Options,
        budgets: &[u64],
        points: &[u64],
    ) -> Curves<'a> {
        let objective = options.objective;
        let least = |&target: &f64| least_hits(target, totals.references);
        let targets: Vec<u64> = options.targets.iter().map(least).collect();
        let sizes = [budgets, points].concat();
        let admit = |policy| {
            let mut admissions = admission::admit(table, policy, &sizes);
            let points = admissions.split_off(budgets.len());
            (admissions, points)
        };
        let by = |policy| {
            let (budgets, points) = admit(policy);
            AdmittedByPolicy { budgets, points, targets: admission::reach(table, policy, &targets) }
        };
        let ((density, mut same_by_count), count) = rayon::join(
            || {
                let density = by(Policy::Density);
                let same = density.budgets.iter().map(|admission| admission.admitted.hits);
                let hits: Vec<u64> = same.chain(targets.iter().copied()).collect();
                (density, admission::reach(table, Policy::Count, &hits))
            },
            || admit(Policy::Count),
        );
        let targets_by_count = same_by_count.split_off(budgets.len());
        let (budgets, points) = count;
        let own = own_policy(objective);
        Curves {
            totals,
            objective,
            targets: &options.targets,
            count: AdmittedByPolicy { budgets, points, targets: targets_by_count },
            density,
            own: own.map(by),
            best: own.map_or(0.0, |own| objective.value_of(&admission::worthwhile(table, own))),
            same_by_count,
        }
    }

    fn budgets(&self, competing: &[EvictionHits]) -> Vec<Budget> {
        let line = |(nth, count): (usize, &Admission)| {
            let (density, own) = (&self.density.budgets[nth], self.own.as_ref().map(|own| &own.budgets[nth]));
            let chosen = [Some(count), Some(density), own];
            Budget {
                budget: count.budget_bytes,
                policies: Policies {
                    count: self.reached(count),
                    density: self.reached(density),
                    objective: own.map(|own| self.reached(own)),
                },
                lru: self.of_requests(competing[nth].lru),
                any_policy_bound: self.bound(&competing[nth], chosen.into_iter().flatten()),
            }
        };
        self.count.budgets.iter().enumerate().map(line).collect()
    }

    fn curve(&self, competing: &[EvictionHits]) -> Vec<Point> {
        let rate = |admission: &Admission| self.of_requests(admission.admitted.hits as f64);
        let lines = self.count.points.iter().zip(&self.density.points).zip(competing);
        lines
            .map(|((count, density), competing)| Point {
                bytes: count.budget_bytes,
                count: rate(count),
                density: rate(density),
                lru: self.of_requests(competing.lru),
                any_policy_bound: self.bound(competing, [count, density].into_iter()),
            })
            .collect()
    }

    /// An admission is a policy, too. From a sample, or for random order, the bound is an estimate:
    /// where that is below what admission surely reaches, it is wrong.
    fn bound<'b>(&self, competing: &EvictionHits, admissions: impl Iterator<Item = &'b Admission>) -> f64 {
        let reached = admissions.map(|admission| admission.admitted.hits as f64);
        self.of_requests(reached.fold(competing.bound, f64::max))
    }

    fn reached(&self, admission: &Admission) -> Reached {
        let ObjectSums { objects, bytes, hits, hit_bytes } = admission.admitted;
        let whole = match admission.policy.objective() {
            Objective::Requests => self.totals.references as f64,
            Objective::Bytes => self.totals.reference_bytes as f64,
            _ => self.best,
        };
        let share = |value: f64| if whole > 0.0 { value / whole } else { 0.0 };
        Reached {
            hit_rate: self.of_requests(hits as f64),
            byte_hit_rate: self.of_bytes(hit_bytes as f64),
            objects,
            bytes: narrow(bytes),
            bound: share(admission.bound),
            gap: share(admission.gap),
            saved: own_policy(self.objective).map(|_| self.objective.value_of(&admission.admitted)),
        }
    }

    /// For each budget by density the smallest cache by count that gives as many hits.
    fn equivalents(&self) -> Vec<Equivalent> {
        let equivalent = |(density, count): (&Admission, &Option<ObjectSums>)| {
            let density_bytes = density.budget_bytes;
            let count_bytes = self.count.smallest(count, density.admitted.hits)?;
            // Beyond the smallest cache that reaches the ceiling there is nothing to compare.
            let all = u128::from(density_bytes) >= self.totals.recurring.bytes;
            // No cache is a multiple of an empty one.
            (density_bytes > 0 && density.admitted.hits > 0 && !all).then(|| Equivalent {
                density_bytes,
                hit_rate: self.of_requests(density.admitted.hits as f64),
                count_bytes,
                times: count_bytes as f64 / density_bytes as f64,
            })
        };
        self.density.budgets.iter().zip(&self.same_by_count).filter_map(equivalent).collect()
    }

    fn targets(&self) -> Vec<HitRateTarget> {
        let line = |(nth, &hit_rate): (usize, &f64)| {
            let hits = least_hits(hit_rate, self.totals.references);
            let smallest = |by: &AdmittedByPolicy| by.smallest(&by.targets[nth], hits);
            HitRateTarget {
                hit_rate,
                count_bytes: smallest(&self.count),
                density_bytes: smallest(&self.density),
                objective_bytes: self.own.as_ref().and_then(smallest),
            }
        };
        self.targets.iter().enumerate().map(line).collect()
    }

    fn of_requests(&self, hits: f64) -> f64 {
        if self.totals.references == 0 { 0.0 } else { hits / self.totals.references as f64 }
    }

    fn of_bytes(&self, bytes: f64) -> f64 {
        if self.totals.reference_bytes == 0 { 0.0 } else { bytes / self.totals.reference_bytes as f64 }
    }
}

/// The fewest hits that are this share of the references. Products such as 0.07 · 100 come out a
/// hair above the whole number that they are: a few roundings less do not ask for one hit more.
fn least_hits(share: f64, references: u64) -> u64 {
    (share * references as f64 * (1.0 - 4.0 * f64::EPSILON)).ceil() as u64
}

/// The policy of the objective, where neither count nor density is it.
fn own_policy(objective: Objective) -> Option<Policy> {
    match objective {
        Objective::Requests | Objective::Bytes => None,
        objective => Some(Policy::Objective(objective)),
    }
}

/// Sizes do not matter here: those of all objects count, known or not.
fn break_even(histogram: &Histogram, objective: Objective) -> Option<BreakEven> {
    let Objective::Seconds { hit_cost, put_cost, .. } = objective else { return None };
    let storing = |puts| CacheWork::serving(puts, histogram.duplicates()).break_even(put_cost, hit_cost);
    Some(BreakEven {
        storing_all: storing(histogram.objects())?,
        storing_repeated: storing(histogram.objects() - histogram.singletons())?,
    })
}

fn name(objective: Objective) -> &'static str {
    match objective {
        Objective::Requests => "requests",
        Objective::Bytes => "bytes",
        Objective::Seconds { .. } => "seconds",
        Objective::Dollars { .. } => "dollars",
    }
}

fn narrow(bytes: u128) -> u64 {
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

/// From here on the error of a sample is worth a sentence.
const NOTABLE_ERROR: f64 = 0.02;

/// Advice that applies to the report.
pub fn advice(report: &Report, origin: &Origin) -> Vec<String> {
    let mut advice = Vec::new();
    if report.references == 0 {
        return advice;
    }
    if report.ceiling == 0.0 {
        advice.push("no object is referenced twice, so no cache can help".into());
        return advice;
    }
    let unknown = 1.0 - report.sized_share - report.assumed_share;
    if unknown > 1e-9 {
        let percent = 100.0 * unknown;
        let probed = report.probed_sizes.map_or(0, |probed| probed.asked);
        // Saved counts have no locators to probe.
        let probe = match origin {
            Origin::Manifests(_) => ", or --probe-sizes N to estimate it from N of them",
            Origin::Table(_) => "",
        };
        advice.push(match probed {
            0 => format!(
                "{percent:.2} % of the objects have no known size and are never admitted. Use --assume-size SIZE to \
                 assume one{probe}"
            ),
            _ => format!(
                "none of {} probed objects has a size, so {percent:.2} % of the objects are never admitted. Use \
                 --assume-size SIZE to assume one",
                count(probed)
            ),
        });
    }
    if report.order.error > NOTABLE_ERROR {
        advice.push(format!(
            "LRU and any policy are estimated from 1 in {:.0} objects. A few objects have most of the references, \
             so these estimates may be off by {:.0} %",
            1.0 / report.order.share,
            100.0 * report.order.error
        ));
    }
    advice
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_that_is_a_whole_number_of_hits_asks_for_no_hit_more() {
        for references in [100u64, 1_000, 6_785_000, 1_582_193_000] {
            for thousandths in 1..=1_000 {
                // As a command line with one decimal is read.
                let percent: f64 = format!("{}.{}", thousandths / 10, thousandths % 10).parse().unwrap();
                let expected = (references * thousandths).div_ceil(1_000);
                assert_eq!(least_hits(percent / 100.0, references), expected, "{percent} % of {references}");
            }
        }
        assert_eq!((least_hits(0.071, 100), least_hits(1e-9, 100), least_hits(0.5, 0)), (8, 1, 0));
    }
}
