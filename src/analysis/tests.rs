//! The parts together, on draws of the law.

use super::admission::{Policy, admit};
use super::concurrency;
use super::law::{self, MAX_MULTIPLICITY};
use super::samples;
use super::sampling::{Estimate, Estimates, Share};

/// Objects of the corpus that the law is calibrated to.
const CORPUS: f64 = 355.97e6;

#[test]
fn a_draw_of_two_million_objects_has_the_figures_of_the_law() {
    let n = 2_000_000;
    let table = samples::table_of(&samples::draw(n, 1));
    let found = table.histogram();
    let n = n as f64;
    let mean: f64 = (1..=MAX_MULTIPLICITY).map(law::survival).sum();
    // E[K²] is the sum of (2k-1)·P(K >= k).
    let square: f64 = (1..=MAX_MULTIPLICITY).map(|k| f64::from(2 * k - 1) * law::survival(k)).sum();
    // Three standard errors.
    let error = 3.0 * ((square - mean * mean) / n).sqrt();
    let found_mean = found.references() as f64 / n;
    assert!((found_mean - mean).abs() < error, "{found_mean}");
    assert!((found.ceiling() - 0.775).abs() < error / (mean * mean) + 0.0001, "{}", found.ceiling());
    let singletons = found.singletons() as f64 / n;
    assert!((singletons - 0.402).abs() < 3.0 * (0.402 * 0.598 / n).sqrt(), "{singletons}");
    // 51 TB in all.
    let terabytes = found.unique_bytes() as f64 * CORPUS / n / 1e12;
    assert!((terabytes - 51.0).abs() < 0.5, "{terabytes}");

    // Terabytes, hit rate by value density in percent.
    for (terabytes, percent) in
        [(1.0, 36.0), (2.0, 46.4), (3.0, 52.8), (5.0, 60.7), (10.0, 70.0), (30.0, 77.5)]
    {
        let budget = (terabytes * 1e12 * n / CORPUS) as u64;
        let admitted = admit(&table, Policy::Density, &[budget])[0].admitted;
        let hit_rate = admitted.hits as f64 / found.references() as f64 * 100.0;
        let within = if terabytes == 1.0 { 0.6 } else { 0.3 };
        assert!((hit_rate - percent).abs() < within, "{terabytes} TB: {hit_rate}, not {percent}");
        if terabytes == 2.0 {
            let bytes = admitted.hit_bytes as f64 / found.reference_bytes() as f64 * 100.0;
            assert!((bytes - 19.6).abs() < 0.3, "{bytes}");
            let millions = admitted.objects as f64 * CORPUS / n / 1e6;
            assert!((millions - 56.1).abs() < 0.5, "{millions}");
        }
    }
    assert_eq!(found.top(1.0).hits, found.duplicates());
}

#[test]
fn a_sample_of_two_percent_finds_the_ceiling_and_knows_how_far_it_is_off() {
    let objects = samples::draw(2_000_000, 2);
    let exact = samples::table_of(&objects).histogram();
    let share = 1.0 / 50.0;
    let sample = Share { share };
    let (mut close, mut concurrent, mut covered) = (0, 0, [0; 4]);
    let hit_rate = concurrency::expected(exact.buckets(), 1.0, exact.references(), 16, 1024).hit_rate;
    for round in 0..20u64 {
        // Other hashes are another sample.
        let kept =
            (round << 32..).zip(&objects).filter(|(hash, _)| sample.keeps(*hash)).map(|(_, object)| object);
        let sampled = samples::table_of(kept).histogram();
        let found = Estimates::new(&sampled, share, exact.references());
        close += u32::from((found.ceiling.value - exact.ceiling()).abs() < 0.003);
        let singletons = exact.singletons() as f64 / exact.objects() as f64;
        let covers = |estimate: Estimate, exact: f64| estimate.low <= exact && exact <= estimate.high;
        let inside = [
            covers(found.objects, exact.objects() as f64),
            covers(found.ceiling, exact.ceiling()),
            covers(found.singleton_share, singletons),
            covers(found.unique_bytes, exact.unique_bytes() as f64),
        ];
        covered.iter_mut().zip(inside).for_each(|(covered, inside)| *covered += u32::from(inside));
        let rate = concurrency::expected(sampled.buckets(), share, exact.references(), 16, 1024).hit_rate;
        concurrent += u32::from((rate - hit_rate).abs() < 0.003);
    }
    assert!(close >= 19 && concurrent >= 19, "{close}, {concurrent} of 20");
    assert!(covered.iter().all(|&covered| covered >= 17), "{covered:?} of 20");
}

#[test]
fn the_founding_corpus_is_a_sixth_of_the_rows_of_the_law() {
    assert!((samples::founding_share() - 0.16).abs() < 0.01, "{}", samples::founding_share());
    // Thinned term by term, the law has the ceiling that the closed form promised.
    assert!((samples::ceiling(&samples::founding()) - 0.4720).abs() < 1e-6);
    let multiplicities = samples::founding_multiplicities();
    let ceiling = 1.0 - multiplicities.len() as f64 / multiplicities.iter().sum::<u64>() as f64;
    assert!((ceiling - 0.4720).abs() < 0.002, "{ceiling}");
    assert!((samples::ceiling(&samples::law()) - 0.775).abs() < 0.0005);
}
