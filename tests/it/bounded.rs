//! A bound on memory changes how references are counted, never what is counted.

use std::collections::HashSet;

use onepull::commands::materialize::{Options, PlanReport, Seconds};

use crate::support::corpus::{Corpus, Member};
use crate::support::manifests::{self, Row};
use crate::support::random::Random;
use crate::support::run::dry_run;

const REFERENCES: usize = 300_000;

/// The manifest, and the number of distinct objects that it names.
fn many_references(corpus: &Corpus) -> u64 {
    let mut random = Random::new(16);
    let mut seen = HashSet::new();
    let rows: Vec<Row> = (0..REFERENCES)
        .map(|row| {
            // A few objects are named by many rows, most by one.
            let range = [200, 20_000, 1_000_000][random.below(3)];
            let object = random.below(range) as u64;
            seen.insert(object);
            let member = Member {
                archive: format!("../images-{:05}.tar", object % 97),
                name: format!("{object:09}.jpg"),
                offset: 512 + object / 97 * 4096,
                size: 1000 + object % 2000,
            };
            let locator =
                if row % 7 == 0 { member.by_range().replace(':', " : ") } else { member.by_range() };
            Row::image(format!("s{}", row / 16), (row % 16) as i32, locator)
        })
        .collect();
    corpus.manifest("many.parquet", &manifests::parquet(&rows, 40_000));
    seen.len() as u64
}

fn plan(options: &Options) -> PlanReport {
    PlanReport { seconds: Seconds::default(), ..dry_run(options) }
}

#[test]
fn the_plan_is_the_same_in_sixteen_megabytes_and_without_a_bound() {
    let corpus = Corpus::new();
    let objects = many_references(&corpus);
    let options = Options { output: None, ..corpus.options() };
    let unbounded = plan(&Options { memory: 1 << 40, jobs: 1, ..options.clone() });
    assert_eq!(
        (unbounded.references, unbounded.objects, unbounded.fetch),
        (REFERENCES as u64, objects, objects)
    );
    for jobs in [1, 4] {
        let bounded = plan(&Options { memory: 16_000_000, jobs, ..options.clone() });
        assert_eq!(
            serde_json::to_string(&bounded).unwrap(),
            serde_json::to_string(&unbounded).unwrap(),
            "{jobs} jobs"
        );
    }
}
