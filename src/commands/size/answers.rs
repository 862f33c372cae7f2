//! From the multiplicity table to the report: curves first, then what they answer.

use super::budgets::{curve, ladder};
use super::options::{Objective, Options};
use super::report::*;
use crate::analysis::admission::{self, Admission, Policy};
use crate::analysis::break_even::source_cost;
use crate::analysis::foreknowledge::RandomOrder;
use crate::analysis::objects::{Objects, Sums, Totals};
use crate::analysis::{Class, lru};

/// All of the report that the table can tell; errors, advice and times are the caller's.
pub fn report(objects: &Objects, options: &Options) -> Report {
    let totals = objects.totals();
    let summary = objects.summary();
    let share = |part: u64| part as f64 / totals.objects.max(1) as f64;
    let (sized, assumed) = match options.assumed_size {
        Some(_) => (totals.objects - totals.unsized_objects, totals.unsized_objects),
        None => (totals.objects - totals.unsized_objects, 0),
    };
    let mut budgets = options.budgets.clone();
    budgets.sort_unstable();
    budgets.dedup();
    if budgets.is_empty() && totals.recurring.hits > 0 {
        budgets = ladder(totals.unique_bytes);
    }
    let curves = Curves::new(objects, &totals, summary.histogram(), options.objective);
    let policy = curves.own_policy();
    Report {
        objective: name(options.objective),
        cost_without_cache: policy.map(|_| options.objective.without_cache(&totals)),
        references: totals.references,
        objects: totals.objects,
        singletons: summary.singletons(),
        unique_bytes: narrow(totals.unique_bytes),
        reference_bytes: narrow(totals.reference_bytes),
        sized_share: if totals.objects == 0 { 0.0 } else { share(sized) },
        assumed_share: share(assumed),
        ceiling: summary.ceiling(),
        byte_ceiling: (totals.reference_bytes > 0)
            .then(|| totals.recurring.hit_bytes as f64 / totals.reference_bytes as f64),
        ceiling_bytes: narrow(totals.recurring.bytes),
        ceiling_objects: totals.recurring.objects,
        equivalents: curves.equivalents(&budgets),
        targets: curves.targets(&options.targets),
        knee_bytes: (totals.recurring.hits > 0)
            .then(|| narrow(admission::knee(objects, Policy::Density).bytes)),
        worthwhile_bytes: policy.map(|policy| narrow(admission::worthwhile(objects, policy).bytes)),
        break_even: break_even(&totals, summary.duplicates(), options.objective),
        budgets: curves.budgets(&budgets),
        curve: curves.curve(&curve(totals.recurring.bytes)),
        ..Report::default()
    }
}

/// What the lines of a report are read from.
struct Curves<'a> {
    objects: &'a Objects,
    totals: &'a Totals,
    classes: Vec<Class>,
    objective: Objective,
    random_order: RandomOrder,
}

impl<'a> Curves<'a> {
    fn new(
        objects: &'a Objects,
        totals: &'a Totals,
        classes: Vec<Class>,
        objective: Objective,
    ) -> Curves<'a> {
        Curves { objects, totals, classes, objective, random_order: RandomOrder::new(objects) }
    }

    /// The policy of the objective, where neither count nor density is it.
    fn own_policy(&self) -> Option<Policy> {
        match self.objective {
            Objective::Requests | Objective::Bytes => None,
            objective => Some(Policy::Objective(objective)),
        }
    }

    fn budgets(&self, budgets: &[u64]) -> Vec<Budget> {
        let admit = |policy| admission::admit(self.objects, policy, budgets);
        let (count, density) = (admit(Policy::Count), admit(Policy::Density));
        let own = self.own_policy().map(admit);
        let line = |(nth, &budget): (usize, &u64)| Budget {
            budget,
            policies: Policies {
                count: self.reached(&count[nth]),
                density: self.reached(&density[nth]),
                objective: own.as_ref().map(|own| self.reached(&own[nth])),
            },
            lru: self.of_requests(lru::in_random_order(&self.classes, budget)),
            any_policy_bound: self.of_requests(self.random_order.hits(budget)),
        };
        budgets.iter().enumerate().map(line).collect()
    }

    fn curve(&self, sizes: &[u64]) -> Vec<Point> {
        let rates = |policy| {
            let admissions = admission::admit(self.objects, policy, sizes).into_iter();
            admissions.map(|admission| self.of_requests(admission.admitted.hits as f64))
        };
        let lines = sizes.iter().zip(rates(Policy::Count)).zip(rates(Policy::Density));
        lines
            .map(|((&bytes, count), density)| Point {
                bytes,
                count,
                density,
                lru: self.of_requests(lru::in_random_order(&self.classes, bytes)),
                any_policy_bound: self.of_requests(self.random_order.hits(bytes)),
            })
            .collect()
    }

    fn reached(&self, admission: &Admission) -> Reached {
        let Sums { objects, bytes, hits, hit_bytes } = admission.admitted;
        let whole = match admission.policy.objective() {
            Objective::Requests => self.totals.references as f64,
            Objective::Bytes => self.totals.reference_bytes as f64,
            // As a share of what the best cache without bound saves.
            objective => objective.value_of(&admission::worthwhile(self.objects, admission.policy)),
        };
        let share = |value: f64| if whole > 0.0 { value / whole } else { 0.0 };
        Reached {
            hit_rate: self.of_requests(hits as f64),
            byte_hit_rate: self.of_bytes(hit_bytes as f64),
            objects,
            bytes: narrow(bytes),
            bound: share(admission.bound),
            gap: share(admission.gap),
            saved: self.own_policy().map(|_| self.objective.value_of(&admission.admitted)),
        }
    }

    /// For each budget by density the smallest cache by count that gives as many hits.
    fn equivalents(&self, budgets: &[u64]) -> Vec<Equivalent> {
        let density = admission::admit(self.objects, Policy::Density, budgets);
        let hits: Vec<u64> = density.iter().map(|admission| admission.admitted.hits).collect();
        let count = admission::reach(self.objects, Policy::Count, &hits);
        let equivalent = |(density, count): (&Admission, Option<Sums>)| {
            let density_bytes = density.budget_bytes;
            let count_bytes = narrow(count?.bytes);
            // Beyond the smallest cache that reaches the ceiling, more says nothing.
            let all = u128::from(density_bytes) >= self.totals.recurring.bytes;
            (density.admitted.hits > 0 && !all).then(|| Equivalent {
                density_bytes,
                hit_rate: self.of_requests(density.admitted.hits as f64),
                count_bytes,
                times: count_bytes as f64 / density_bytes as f64,
            })
        };
        density.iter().zip(count).filter_map(equivalent).collect()
    }

    fn targets(&self, targets: &[f64]) -> Vec<Target> {
        let hits: Vec<u64> =
            targets.iter().map(|target| (target * self.totals.references as f64).ceil() as u64).collect();
        let reach = |policy| admission::reach(self.objects, policy, &hits).into_iter();
        let bytes = |sums: Option<Sums>| sums.map(|sums| narrow(sums.bytes));
        let lines = targets.iter().zip(reach(Policy::Count)).zip(reach(Policy::Density));
        lines
            .map(|((&hit_rate, count), density)| Target {
                hit_rate,
                count_bytes: bytes(count),
                density_bytes: bytes(density),
            })
            .collect()
    }

    fn of_requests(&self, hits: f64) -> f64 {
        if self.totals.references == 0 { 0.0 } else { hits / self.totals.references as f64 }
    }

    fn of_bytes(&self, bytes: f64) -> f64 {
        if self.totals.reference_bytes == 0 { 0.0 } else { bytes / self.totals.reference_bytes as f64 }
    }
}

fn break_even(totals: &Totals, hits: u64, objective: Objective) -> Option<BreakEven> {
    let Objective::Seconds { hit_cost, put_cost, .. } = objective else { return None };
    Some(BreakEven {
        storing_all: source_cost(totals.objects, hits, put_cost, hit_cost)?,
        storing_repeated: source_cost(totals.recurring.objects, totals.recurring.hits, put_cost, hit_cost)?,
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
