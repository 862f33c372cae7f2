//! The whole loop: count, size, list, materialize. What was predicted is what is measured.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use serde_json::Value;

use super::{assert_near, command, stdout};
use crate::support::corpus::Corpus;
use crate::support::files;
use crate::support::manifests::Row;
use crate::support::random::Random;
use crate::support::run::onepull;

const OBJECTS: usize = 90;
const MANIFESTS: usize = 5;
const ROWS: usize = 160;

/// Payloads in two tars and in files of their own, the latter without a size in their locators.
struct Bed {
    corpus: Corpus,
    /// Size where it is known, and references of each manifest.
    objects: Vec<(Option<u64>, BTreeMap<usize, u64>)>,
}

impl Bed {
    fn new() -> Bed {
        let corpus = Corpus::new();
        let mut random = Random::new(99);
        let mut known = Vec::new();
        for archive in ["a.tar", "b.tar"] {
            let payload = |nth: usize, random: &mut Random| {
                // Some tie in size.
                let size = if nth.is_multiple_of(3) { 1_500 } else { 50 + random.below(4_000) };
                (format!("{nth}.jpg"), random.bytes(size))
            };
            let members: Vec<_> = (0..OBJECTS / 3).map(|nth| payload(nth, &mut random)).collect();
            let members = corpus.tar(archive, &members);
            known.extend(members.into_iter().map(|member| (member.by_range(), Some(member.size))));
        }
        while known.len() < OBJECTS {
            let payload = random.bytes(900);
            known.push((corpus.file(&format!("{}.png", known.len()), &payload), None));
        }
        random.shuffle(&mut known);
        let mut objects: Vec<_> = known.iter().map(|(_, size)| (*size, BTreeMap::new())).collect();
        for manifest in 0..MANIFESTS {
            let row = |place: usize| {
                let most = [6, 30, OBJECTS][random.below(3)];
                let object = random.below(most);
                *objects[object].1.entry(manifest).or_default() += 1;
                Row::image(format!("s{}", place / 4), (place % 4) as i32, known[object].0.clone())
            };
            let rows: Vec<Row> = (0..ROWS).map(row).collect();
            match manifest % 2 {
                0 => corpus.parquet(&format!("p{manifest}.parquet"), &rows),
                _ => corpus.jsonl(&format!("p{manifest}.jsonl"), &rows),
            };
        }
        objects.retain(|(_, uses)| !uses.is_empty());
        Bed { corpus, objects }
    }

    /// In the folder of the corpus.
    fn json(&self, arguments: &[&str]) -> Value {
        let mut command = onepull();
        command.current_dir(self.corpus.path("")).args(arguments).args(["--json", "--progress", "none"]);
        serde_json::from_slice(&command.assert().code(0).get_output().stdout).unwrap()
    }
}

#[test]
fn the_measured_hit_rate_is_the_predicted_one_plus_the_duplicates_inside_shards() {
    let bed = Bed::new();
    let references = (MANIFESTS * ROWS) as u64;
    bed.json(&["analyze", "in", "--save", "counts"]);
    let mut lists = BTreeSet::new();
    for (policy, objective) in
        [("density", "requests"), ("count", "requests"), ("objective", "seconds"), ("objective", "dollars")]
    {
        for budget in [0u64, 1_596, 9_000, 40_000, 1_000_000] {
            let what = format!("{policy} for {objective}, {budget} bytes");
            let (size, list) = (format!("{budget}B"), format!("{policy}-{objective}-{budget}"));
            let flags = ["size", "--from", "counts", "--budget", &size, "--objective", objective];
            let report = bed.json(&[&flags[..], &["--policy", policy, "--admit-out", &list]].concat());
            let listed = &report["admission"];
            assert_eq!(
                (&listed["file"], &listed["policy"]),
                (&list.as_str().into(), &policy.into()),
                "{what}"
            );
            assert_eq!(listed["budget"], budget, "{what}");
            let (objects, bytes) = (listed["objects"].as_u64().unwrap(), listed["bytes"].as_u64().unwrap());
            assert!(bytes + 96 * objects <= budget, "{what}: {listed}");
            lists.insert(fs::read(bed.corpus.path(&list)).unwrap());

            let (out, cache) = (format!("out-{list}"), format!("cache-{list}"));
            let run = ["materialize", "in", "-o", &out, "--cache", &cache, "--admit", &list];
            let made = bed.json(&run);
            let admission = &made["admission"];
            assert_eq!(admission["for_this_corpus"], true, "{what}");
            assert_eq!(admission["admitted_objects"], objects, "{what}");
            assert_eq!(admission["predicted_hit_rate"], listed["hit_rate"], "{what}");
            let [admitted, inside, held] = ["admitted_hits", "in_shard_duplicates", "held_hits"]
                .map(|name| admission[name].as_u64().unwrap());
            // To the last reference.
            let predicted = listed["hit_rate"].as_f64().unwrap() * references as f64;
            assert_near(predicted, admitted as f64, &what);
            let reads = ["reads", "rereads"].map(|name| made["source"][name].as_u64().unwrap());
            assert_eq!(reads[0] + reads[1] + admitted + inside, references, "{what}");
            assert_eq!((held, reads[0]), (0, bed.objects.len() as u64), "{what}");
            let measured = (admitted + inside) as f64 / references as f64;
            assert_near(made["hit_rate"].as_f64().unwrap(), measured, &what);
            assert_near(admission["hit_rate"].as_f64().unwrap(), measured, &what);

            let entries = files::entries(&bed.corpus.path(&cache));
            assert_eq!(entries.len() as u64, objects, "{what}");
            let taken: u64 = entries.iter().map(|entry| fs::metadata(entry).unwrap().len()).sum();
            assert_eq!(taken, bytes + 96 * objects, "{what}");
            if budget == 1_000_000 {
                assert_all_that_is_known_is_admitted(&bed, listed, inside, policy);
            }
        }
    }
    assert!(lists.len() > 12, "{} different lists", lists.len());
}

/// All with a size and two references or more; the others hit inside shards alone.
fn assert_all_that_is_known_is_admitted(bed: &Bed, listed: &Value, inside: u64, policy: &str) {
    let references = |uses: &BTreeMap<usize, u64>| uses.values().sum::<u64>();
    let known = bed.objects.iter().filter(|(size, uses)| size.is_some() && references(uses) > 1);
    let left_out = bed.objects.iter().filter(|(size, uses)| size.is_none() || references(uses) == 1);
    assert_eq!(listed["objects"], known.clone().count(), "{policy}");
    assert_eq!(listed["bytes"], known.map(|(size, _)| size.unwrap()).sum::<u64>(), "{policy}");
    assert_eq!(inside, left_out.map(|(_, uses)| references(uses) - uses.len() as u64).sum::<u64>());
}

#[test]
fn the_text_names_the_list_and_what_it_predicts() {
    let bed = Bed::new();
    let text = stdout(&mut command(&bed.corpus, &["in", "--budget", "9kB", "--admit-out", "list"]));
    let line = text.lines().find(|line| line.starts_with("admitted")).expect(&text);
    assert!(line.contains("by density for a cache of 9.0 kB"), "{text}");
    assert!(text.contains("listed in list"), "{text}");
}
