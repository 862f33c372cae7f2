//! Corpora and budgets at the edge: the numbers are right, and the text can be read.

use onepull::commands::size::{Options, Origin, Report};

use super::model::{Object, corpus, objects};
use super::{assert_near, command, options, save, size, stdout};
use crate::support::corpus::Corpus;
use crate::support::manifests::Row;

/// The text of a run over all manifests with `flags` more; and with `-v`. Both can be read, and
/// so can the JSON.
fn text(corpus: &Corpus, flags: &[&str]) -> String {
    let [text, full, json] =
        [&[][..], &["-v"], &["--json"]].map(|more| stdout(command(corpus, &["in"]).args(flags).args(more)));
    for text in [&text, &full] {
        let longest = text.lines().map(|line| line.chars().count()).max().unwrap();
        assert!(longest <= 80, "{longest} columns\n{text}");
        let words = || text.split(|c: char| !c.is_alphanumeric());
        assert!(!words().any(|word| ["NaN", "inf", "null", "None"].contains(&word)), "{text}");
    }
    serde_json::from_str::<serde_json::Value>(&json).unwrap();
    text
}

fn of_budgets(corpus: &Corpus, budgets: &[u64]) -> Report {
    size(&Options { budgets: budgets.to_vec(), ..options(corpus) })
}

#[test]
fn of_no_bytes_and_of_fewer_than_any_object_nothing_is_admitted() {
    let corpus = corpus(&objects(&[(5, 700), (2, 300), (1, 10)]));
    let report = of_budgets(&corpus, &[0, 299]);
    for line in &report.budgets {
        for of in [line.policies.count, line.policies.density] {
            assert_eq!((of.hit_rate, of.byte_hit_rate, of.objects, of.bytes), (0.0, 0.0, 0, 0), "{line:?}");
            assert_eq!((of.bound, of.gap), (0.0, 0.0), "{line:?}");
        }
        assert_eq!(line.any_policy_bound, 0.0, "{line:?}");
    }
    assert_eq!(report.budgets[0].lru, 0.0);
    assert_eq!(report.equivalents, []);
    assert!(text(&corpus, &["--budget", "0B,299B"]).contains("\n  0 B "));
}

#[test]
fn an_object_larger_than_the_cache_does_not_make_the_other_order_look_bad() {
    let huge = [(50, 1_000_000_000)].into_iter();
    let corpus = corpus(&objects(&huge.chain((0..100).map(|_| (3, 1_000))).collect::<Vec<_>>()));
    let report = size(&Options { targets: vec![0.057], ..options(&corpus) });
    assert!(report.budgets.iter().all(|line| line.budget > 1_000_000), "{:?}", report.budgets);
    let report = size(&Options { budgets: vec![10_000], targets: vec![0.057], ..options(&corpus) });
    assert_eq!((report.equivalents[0].count_bytes, report.equivalents[0].times), (10_000, 1.0));
    assert_eq!(report.targets[0].count_bytes, Some(10_000));
}

#[test]
fn objects_without_bytes_are_hits_in_a_cache_of_none_and_nothing_is_a_multiple_of_it() {
    let corpus = corpus(&objects(&[(5, 0), (4, 0), (3, 1), (2, 300)]));
    let report = of_budgets(&corpus, &[0, 1]);
    assert_near(report.budgets[0].policies.density.hit_rate, 0.5, "7 of 14");
    assert!(report.equivalents.iter().all(|of| of.density_bytes > 0), "{:?}", report.equivalents);
    text(&corpus, &["--budget", "0B,1B"]);
    save(&corpus, 1, 1 << 30);
    let counts = Origin::Table(corpus.path("counts"));
    let random = size(&Options { budgets: vec![0, 1], origin: counts, ..options(&corpus) });
    assert!(random.budgets[0].any_policy_bound >= 0.5 - 1e-12, "{:?}", random.budgets);
}

#[test]
fn beyond_the_corpus_every_order_is_at_the_ceiling() {
    let corpus = corpus(&objects(&[(5, 700), (2, 300), (1, 10)]));
    let report = of_budgets(&corpus, &[1_000, 5_000_000_000_000]);
    for line in &report.budgets {
        for of in [line.policies.count, line.policies.density] {
            assert_eq!((of.objects, of.bytes, of.gap), (2, 1_000, 0.0), "{line:?}");
            assert_near(of.hit_rate, 5.0 / 8.0, "hit rate");
            assert_near(of.byte_hit_rate, 3_100.0 / 4_110.0, "byte hit rate");
        }
    }
    assert_near(report.budgets[1].lru, report.ceiling, "LRU");
    assert_near(report.budgets[1].any_policy_bound, report.ceiling, "bound");
    assert!(text(&corpus, &["--budget", "5TB"]).contains("62.50"));
}

#[test]
fn where_all_sizes_are_equal_both_orders_are_one() {
    let multiplicities = (0..60u64).map(|nth| (1 + nth % 9, 1_000));
    let corpus = corpus(&objects(&multiplicities.collect::<Vec<_>>()));
    let budgets: Vec<u64> = (0..70).map(|nth| nth * 997).collect();
    let report = of_budgets(&corpus, &budgets);
    for line in &report.budgets {
        let (count, density) = (line.policies.count, line.policies.density);
        assert_eq!((count.objects, count.hit_rate), (density.objects, density.hit_rate), "{line:?}");
        assert_eq!(count.objects, (line.budget / 1_000).min(report.ceiling_objects), "{line:?}");
    }
    text(&corpus, &[]);
}

#[test]
fn where_all_is_referenced_once_no_cache_helps() {
    let corpus = corpus(&objects(&[(1, 700), (1, 300), (1, 10)]));
    let report = of_budgets(&corpus, &[]);
    assert_eq!((report.singletons, report.ceiling, report.ceiling_bytes), (3, 0.0, 0));
    assert_eq!((report.budgets.len(), report.curve.len(), report.knee_bytes), (0, 0, None));
    assert_eq!(of_budgets(&corpus, &[1_000]).budgets[0].policies.density.hit_rate, 0.0);
    for flags in [&[][..], &["--budget", "1kB", "--target", "40%"], &["--objective", "dollars"]] {
        let text = text(&corpus, flags);
        assert!(text.contains("no object repeats: no cache gives a hit"), "{text}");
        assert!(text.contains("so no cache can help"), "{text}");
    }
}

#[test]
fn where_nothing_is_referenced_there_is_nothing_to_cache() {
    let [none, words] = [Corpus::new(), Corpus::new()];
    none.manifest("empty.jsonl", b"");
    words.jsonl("a.jsonl", &[Row::text("s", 0, "words")]);
    for corpus in [&none, &words] {
        let report = of_budgets(corpus, &[0, 1_000]);
        assert_eq!((report.references, report.objects, report.ceiling), (0, 0, 0.0));
        assert_eq!((report.byte_ceiling, report.budgets.len()), (None, 2));
        for flags in [&[][..], &["--budget", "1kB", "--target", "40%"], &["--objective", "seconds"]] {
            let text = text(corpus, flags);
            assert!(text.contains("no row needs an image, so there is nothing to cache"), "{text}");
        }
    }
}

#[test]
fn where_no_size_is_known_one_is_asked_for_and_an_assumed_one_counts() {
    let objects = [5, 3, 1].map(|k| Object { k, size: None });
    let corpus = corpus(&objects);
    let report = of_budgets(&corpus, &[1_000]);
    assert_eq!((report.sized_share, report.assumed_share, report.byte_ceiling), (0.0, 0.0, None));
    assert_near(report.ceiling, 6.0 / 9.0, "ceiling");
    assert_eq!((report.ceiling_bytes, report.budgets[0].policies.density.objects), (0, 0));
    assert!(report.advice.iter().any(|line| line.contains("--assume-size SIZE")), "{:?}", report.advice);
    let without = text(&corpus, &["--target", "40%"]);
    assert!(without.contains("no size is known; try --probe-sizes N or --assume-size"), "{without}");
    super::save(&corpus, 1, 1 << 30);
    let saved = stdout(&mut command(&corpus, &["--from", "counts"]));
    assert!(saved.contains("no size is known; try --assume-size SIZE"), "{saved}");
    assert!(!saved.contains("--probe-sizes"), "{saved}");

    let assumed = Options { budgets: vec![1_000], assumed_size: Some(600), ..options(&corpus) };
    let report = size(&assumed);
    assert_eq!((report.sized_share, report.assumed_share), (0.0, 1.0));
    assert_eq!((report.unique_bytes, report.reference_bytes, report.ceiling_bytes), (1_800, 5_400, 1_200));
    let density = report.budgets[0].policies.density;
    assert_eq!((density.objects, density.bytes, report.advice.len()), (1, 600, 0));
    assert_near(density.hit_rate, 4.0 / 9.0, "hit rate");
    let with = text(&corpus, &["--assume-size", "600B"]);
    assert!(with.contains("of the objects have an assumed size"), "{with}");
}

#[test]
fn the_assumed_size_is_for_objects_of_unknown_size_alone() {
    let some = [Object { k: 4, size: Some(100) }, Object { k: 3, size: None }, Object { k: 2, size: None }];
    let corpus = corpus(&some);
    let budgets = vec![150, 1_150];
    let report = size(&Options { budgets, assumed_size: Some(1_000), ..options(&corpus) });
    assert_near(report.sized_share, 1.0 / 3.0, "known");
    assert_near(report.assumed_share, 2.0 / 3.0, "assumed");
    assert_eq!((report.unique_bytes, report.ceiling_bytes), (2_100, 2_100));
    let admitted = report.budgets.iter().map(|line| line.policies.density.objects);
    assert_eq!(admitted.collect::<Vec<_>>(), [1, 2]);
}
