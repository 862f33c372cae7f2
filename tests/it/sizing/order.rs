//! Caches in which all objects compete: LRU and the bound on every policy, in the order in which
//! the manifests name the objects.

use onepull::commands::size::{Options, OrderKind, Report};

use super::model::{Object, locator, random_objects};
use super::{Origin, assert_near, command, options, save, size, stdout};
use crate::support::corpus::Corpus;
use crate::support::manifests::{self, Row};
use crate::support::random::Random;

/// The numbers of the objects, with each multiplicity kept: one after the other, then moved by at
/// most a few dozen places, so that most come again soon.
fn references(random: &mut Random, objects: &[Object]) -> Vec<usize> {
    let repeat = |(nth, of): (usize, &Object)| std::iter::repeat_n(nth, of.k as usize);
    let mut references: Vec<usize> = objects.iter().enumerate().flat_map(repeat).collect();
    for place in 0..references.len() {
        let other = (place + random.below(60)).min(references.len() - 1);
        references.swap(place, other);
    }
    references
}

/// The references in manifests of both kinds in two folders; their paths ascend.
fn written(objects: &[Object], references: &[usize]) -> Corpus {
    let corpus = Corpus::new();
    for folder in ["a", "b"] {
        std::fs::create_dir_all(corpus.path("in").join(folder)).unwrap();
    }
    let row = |nth: &usize| Row::image("s", 0, locator(*nth, objects[*nth]).replace("../", "/"));
    let rows: Vec<Row> = references.iter().map(row).collect();
    for (nth, part) in rows.chunks(rows.len().div_ceil(4)).enumerate() {
        match nth % 2 {
            0 => corpus.jsonl(&format!("{}/{nth}.jsonl", ["a", "b"][nth / 2]), part),
            _ => corpus.parquet(&format!("{}/{nth}.parquet", ["a", "b"][nth / 2]), part),
        };
    }
    corpus
}

/// The hits of a cache of `budget` bytes, by what it holds, used last at the end.
fn lru(objects: &[Object], references: &[usize], budget: u64) -> u64 {
    let (mut cache, mut hits): (Vec<usize>, u64) = (Vec::new(), 0);
    for &nth in references {
        let Some(size) = objects[nth].size else { continue };
        if let Some(place) = cache.iter().position(|cached| *cached == nth) {
            cache.remove(place);
            hits += 1;
        }
        if size <= budget {
            cache.push(nth);
        }
        while cache.iter().filter_map(|cached| objects[*cached].size).sum::<u64>() > budget {
            cache.remove(0);
        }
    }
    hits
}

/// Stays from one reference to the next, the cheapest first, until they take all that a cache has.
fn bound(objects: &[Object], references: &[usize], budget: u64) -> u64 {
    let sized: Vec<usize> = references.iter().copied().filter(|nth| objects[*nth].size.is_some()).collect();
    let mut stays: Vec<u64> = Vec::new();
    for (place, nth) in sized.iter().enumerate() {
        let size = objects[*nth].size.unwrap();
        let next = sized[place + 1..].iter().position(|next| next == nth);
        stays.extend(next.filter(|_| size <= budget).map(|between| size * (between as u64 + 1)));
    }
    stays.sort_unstable();
    let mut left = budget * sized.len() as u64;
    let fits = |stay: &&u64| {
        let rest = left.checked_sub(**stay);
        left = rest.unwrap_or(left);
        rest.is_some()
    };
    stays.iter().take_while(fits).count() as u64
}

fn assert_as_simulated(r: &Report, objects: &[Object], references: &[usize]) {
    for line in &r.budgets {
        let rate = |hits: u64| hits as f64 / references.len() as f64;
        assert_near(line.lru, rate(lru(objects, references, line.budget)), &format!("LRU, {}", line.budget));
        let bound = rate(bound(objects, references, line.budget));
        assert_near(line.any_policy_bound, bound, &format!("bound, {}", line.budget));
        let policies = &line.policies;
        let best = line.lru.max(policies.count.hit_rate).max(policies.density.hit_rate);
        assert!(best <= line.any_policy_bound + 1e-12, "{line:?}");
    }
}

const BUDGETS: [u64; 7] = [0, 150, 1_000, 4_000, 15_000, 60_000, 10_000_000];

#[test]
fn lru_and_the_bound_are_those_of_a_cache_that_follows_the_manifests_at_any_jobs_and_memory() {
    let mut random = Random::new(31);
    let objects = random_objects(&mut random, 600);
    let references = references(&mut random, &objects);
    let corpus = written(&objects, &references);
    for (jobs, memory) in [(1, 1 << 30), (4, 1 << 30), (3, 16_000_000)] {
        let given = Options { budgets: BUDGETS.to_vec(), jobs, memory, ..options(&corpus) };
        let report = size(&given);
        let sized: u64 = objects.iter().filter(|of| of.size.is_some()).map(|of| of.k).sum();
        assert_eq!(report.order.of, OrderKind::Manifests);
        assert_eq!((report.order.share, report.order.references), (1.0, sized));
        assert_as_simulated(&report, &objects, &references);
        for point in report.curve.iter().step_by(7) {
            let hits = lru(&objects, &references, point.bytes) as f64;
            assert_near(point.lru, hits / references.len() as f64, "curve");
        }
    }
}

#[test]
fn a_manifest_that_fails_midway_leaves_nothing_in_the_order() {
    let mut random = Random::new(36);
    let objects = random_objects(&mut random, 200);
    let references = references(&mut random, &objects);
    let corpus = written(&objects, &references);
    let rows: Vec<Row> =
        (0..9_000).map(|nth| Row::image("s", nth, locator(nth as usize % 9, objects[0]))).collect();
    let cut = &manifests::gzip(manifests::jsonl(&rows).as_bytes());
    corpus.manifest("a/1.jsonl.gz", &cut[..cut.len() - 9]);
    for jobs in [1, 4] {
        let report = size(&Options { budgets: BUDGETS.to_vec(), jobs, ..options(&corpus) });
        assert_eq!(report.unreadable.len(), 1, "{:?}", report.unreadable);
        assert_eq!(report.references, references.len() as u64);
        assert_as_simulated(&report, &objects, &references);
    }
}

#[test]
fn objects_of_an_assumed_size_compete_too() {
    let mut random = Random::new(32);
    let mut objects = random_objects(&mut random, 300);
    let references = references(&mut random, &objects);
    let corpus = written(&objects, &references);
    let given = Options { budgets: BUDGETS.to_vec(), assumed_size: Some(700), ..options(&corpus) };
    objects.iter_mut().for_each(|of| of.size = of.size.or(Some(700)));
    let report = size(&given);
    assert_eq!(report.order.references, report.references);
    assert_as_simulated(&report, &objects, &references);
}

#[test]
fn where_memory_is_short_a_sample_of_the_objects_is_followed_and_the_report_says_so() {
    let mut random = Random::new(33);
    let objects = random_objects(&mut random, 60_000);
    let references = references(&mut random, &objects);
    let corpus = written(&objects, &references);
    let budgets = vec![30_000, 1_000_000, 20_000_000];
    let exact = size(&Options { budgets: budgets.clone(), ..options(&corpus) });
    assert_eq!(exact.order.share, 1.0);
    let short = Options { budgets, memory: 16_000_000, ..options(&corpus) };
    let sampled = size(&short);
    assert!(sampled.order.share < 1.0, "{:?}", sampled.order);
    assert_eq!(sampled.order, size(&Options { jobs: 1, ..short }).order);
    for (exact, sampled) in exact.budgets.iter().zip(&sampled.budgets) {
        assert!((exact.lru - sampled.lru).abs() < 0.02, "{exact:?} {sampled:?}");
        let [exact_bound, bound] = [exact, sampled].map(|of| of.any_policy_bound);
        assert!((exact_bound - bound).abs() < 0.02, "{exact:?} {sampled:?}");
    }
    let text = stdout(&mut command(&corpus, &["in", "--memory", "16MB"]));
    assert!(text.contains("known from 1 in"), "{text}");
}

/// A few objects have most references, so that a sample holds far more or far fewer than its share.
#[test]
fn where_a_sample_tells_little_the_bound_is_no_less_than_an_admission_and_the_advice_says_so() {
    let mut random = Random::new(35);
    let hot = (0..4).map(|nth| Object { k: 12_000 + nth, size: Some(1_000) });
    let cold = (0..12_000).map(|nth| Object { k: 1 + nth % 2, size: Some(500 + nth % 1_000) });
    let mut objects: Vec<Object> = hot.chain(cold).collect();
    // In this place too few of the first four are in the sample.
    objects.rotate_right(1);
    let corpus = written(&objects, &references(&mut random, &objects));
    let budgets = vec![1_000, 4_000, 50_000, 5_000_000];
    let given = Options { budgets, memory: 3_000_000, ..options(&corpus) };
    let report = size(&given);
    assert!(report.order.share < 1.0 && report.order.error > 0.3, "{:?}", report.order);
    for line in &report.budgets {
        assert!(line.any_policy_bound >= line.policies.density.hit_rate, "{line:?}");
        assert!(line.any_policy_bound >= line.policies.count.hit_rate, "{line:?}");
    }
    for point in &report.curve {
        assert!(point.any_policy_bound >= point.density.max(point.count), "{point:?}");
    }
    let advises = |report: &Report| report.advice.iter().any(|line| line.contains("LRU and any policy"));
    assert!(advises(&report), "{:?}", report.advice);
    let exact = size(&Options { memory: 1 << 30, ..given });
    assert_eq!(exact.order.error, 0.0);
    assert!(!advises(&exact), "{:?}", exact.advice);
}

#[test]
fn a_table_knows_no_order() {
    let mut random = Random::new(34);
    let objects = random_objects(&mut random, 100);
    let corpus = written(&objects, &references(&mut random, &objects));
    save(&corpus, 1, 1 << 30);
    let report = size(&Options { origin: Origin::Table(corpus.path("counts")), ..options(&corpus) });
    assert_eq!(report.order.of, OrderKind::Random);
    assert!(stdout(&mut command(&corpus, &["--from", "counts"])).contains("in random order"));
    assert!(stdout(&mut command(&corpus, &["in"])).contains("as in the manifests\n"));
}
