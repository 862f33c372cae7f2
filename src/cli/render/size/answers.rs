//! What one asks before buying: which cache for which hit rate, and where a larger one stops
//! paying.

use onepull::commands::size::{Equivalent, Objective, Report, Target};

use super::has_costs;
use super::head::unsized_share;
use super::savings::{amount, costs};
use crate::cli::bytes::show;
use crate::cli::human::moment;
use crate::cli::render::table::Table;
use crate::cli::render::{decimal, hit_rate};
use crate::cli::shared::Detail;

/// So many sentences of one kind are enough, unless all are asked for.
const EQUIVALENTS: usize = 3;

pub fn all(t: &mut Table, r: &Report, objective: &Objective, detail: Detail) {
    t.gap();
    let mut label = "target";
    for of in &r.targets {
        t.row(label, hit_rate(of.hit_rate), target(of, r));
        label = "";
    }
    let mut label = "equal";
    for of in chosen(&r.equivalents, detail) {
        t.row(label, show(of.density_bytes), equivalent(of));
        label = "";
    }
    if let Some(bytes) = r.knee_bytes {
        t.row(
            "knee",
            show(bytes),
            "by density: beyond it a byte of cache gives less than it does on average",
        );
    }
    if let Some(cost) = r.cost_without_cache {
        t.row("cost", amount(objective, cost), format!("without a cache, at {}", costs(objective)));
    }
    worthwhile(t, r, objective);
    if let Some(of) = &r.break_even {
        t.row("break-even", moment(of.storing_all), "an object: a cache pays when the source is slower");
        t.row("", moment(of.storing_repeated), "an object, when only objects that recur are stored");
    }
}

fn target(of: &Target, r: &Report) -> String {
    match (of.density_bytes, of.count_bytes) {
        (Some(density), Some(count)) => {
            let simple = format!("hit rate takes {} by density, {} by count", show(density), show(count));
            match of.objective_bytes {
                _ if r.cost_without_cache.is_none() => simple,
                Some(own) => format!("{simple}, {} by {}", show(own), r.objective),
                None => format!(
                    "{simple}; by {} it is out of reach: too few objects are worth more than they cost",
                    r.objective
                ),
            }
        }
        _ if of.hit_rate <= r.ceiling && unsized_share(r) > 0.0 => {
            "hit rate is out of reach without the objects of unknown size".into()
        }
        _ => "hit rate is above the ceiling".into(),
    }
}

fn equivalent(of: &Equivalent) -> String {
    format!(
        "by density reaches {}: by count that takes {}, {} times as much",
        hit_rate(of.hit_rate),
        show(of.count_bytes),
        decimal(of.times, 2)
    )
}

/// All of a few; of many some that lie evenly between the first and the last.
fn chosen(all: &[Equivalent], detail: Detail) -> Vec<&Equivalent> {
    if detail == Detail::Full || all.len() <= EQUIVALENTS {
        return all.iter().collect();
    }
    (0..EQUIVALENTS).map(|nth| &all[nth * (all.len() - 1) / (EQUIVALENTS - 1)]).collect()
}

fn worthwhile(t: &mut Table, r: &Report, objective: &Objective) {
    match r.worthwhile_bytes {
        Some(bytes) => {
            t.row("worthwhile", show(bytes), "up to here one more GB saves more than it costs");
        }
        // Without a cost every object that recurs is worth its place.
        None if has_costs(objective) && storing_costs(objective) => {
            t.row("worthwhile", "none".into(), "a cache of any size costs more than it saves");
        }
        None => {}
    }
}

fn storing_costs(objective: &Objective) -> bool {
    match *objective {
        Objective::Requests | Objective::Bytes => false,
        Objective::Seconds { put_cost, hit_cost, .. } => put_cost + hit_cost > 0.0,
        Objective::Dollars { price_storage, .. } => price_storage > 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_equal_pairs_three_are_told() {
        let of = |density_bytes| Equivalent { density_bytes, hit_rate: 0.1, count_bytes: 1, times: 1.0 };
        let all: Vec<_> = (1..=11).map(of).collect();
        let told = |all: &[_], detail| -> Vec<u64> {
            chosen(all, detail).iter().map(|of: &&Equivalent| of.density_bytes).collect()
        };
        assert_eq!(told(&all, Detail::Usual), [1, 6, 11]);
        assert_eq!(told(&all, Detail::Full).len(), 11);
        assert_eq!(told(&all[..2], Detail::Usual), [1, 2]);
        assert_eq!(told(&[], Detail::Usual), [0u64; 0]);
    }
}
