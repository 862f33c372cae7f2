//! A report on a corpus of web scale, for the tests of texts and plots.

use onepull::commands::size::{Budget, Equivalent, HitRateTarget, Point, Policies, Reached, Report, Seconds};

const TB: u64 = 1_000_000_000_000;

/// Hit rate, byte hit rate, millions of objects.
type Order = [f64; 3];

pub fn report() -> Report {
    let budgets = vec![
        budget(500, [0.1280, 0.1210, 2.9], [0.2700, 0.0820, 18.2], 0.060, 0.41),
        budget(1_000, [0.2020, 0.1910, 6.9], [0.3600, 0.1330, 32.5], 0.095, 0.50),
        budget(2_000, [0.3101, 0.2990, 14.8], [0.4640, 0.1960, 56.1], 0.155, 0.58),
        budget(5_000, [0.4890, 0.4810, 36.8], [0.6070, 0.3820, 106.7], 0.290, 0.68),
        budget(30_300, [0.7750, 0.7745, 212.87006], [0.7750, 0.7745, 212.87006], 0.670, 0.775),
    ];
    let point = |budget: &Budget| Point {
        bytes: budget.budget,
        count: budget.policies.count.hit_rate,
        density: budget.policies.density.hit_rate,
        lru: budget.lru,
        any_policy_bound: budget.any_policy_bound,
    };
    Report {
        objective: "requests",
        references: 1_582_193_028,
        objects: 355_970_000,
        singletons: 143_099_940,
        unique_bytes: 51 * TB,
        reference_bytes: 226_700_000_000_000,
        sized_share: 1.0,
        ceiling: 0.775_015,
        byte_ceiling: Some(0.7745),
        ceiling_bytes: 30_300_000_000_000,
        ceiling_objects: 212_870_060,
        curve: budgets.iter().map(point).collect(),
        equivalents: vec![Equivalent {
            density_bytes: 2 * TB,
            hit_rate: 0.464,
            count_bytes: 4_410_000_000_000,
            times: 2.205,
        }],
        targets: vec![
            HitRateTarget {
                hit_rate: 0.4,
                count_bytes: Some(3_200_000_000_000),
                density_bytes: Some(1_300_000_000_000),
                objective_bytes: None,
            },
            HitRateTarget { hit_rate: 0.8, count_bytes: None, density_bytes: None, objective_bytes: None },
        ],
        knee_bytes: Some(8 * TB),
        seconds: Seconds { scan: 40.0, group: 20.0, fetch: 0.0, read: 0.0, size: 2.1, total: 62.1 },
        budgets,
        ..Report::default()
    }
}

fn budget(gigabytes: u64, count: Order, density: Order, lru: f64, any_policy_bound: f64) -> Budget {
    let budget = gigabytes * (TB / 1000);
    let reached = |[hit_rate, byte_hit_rate, millions]: Order| Reached {
        hit_rate,
        byte_hit_rate,
        objects: (millions * 1e6).round() as u64,
        bytes: budget,
        bound: hit_rate + 1.2e-6,
        gap: 1.2e-6,
        saved: None,
    };
    Budget {
        budget,
        policies: Policies { count: reached(count), density: reached(density), objective: None },
        lru,
        any_policy_bound,
    }
}
