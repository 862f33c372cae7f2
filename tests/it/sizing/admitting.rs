//! The whole loop: size, then materialize with a limit of the cache. What is predicted is measured.

use std::collections::BTreeMap;
use std::fs;

use serde_json::Value;

use super::assert_near;
use crate::support::corpus::Corpus;
use crate::support::files;
use crate::support::manifests::Row;
use crate::support::random::Random;
use crate::support::run::onepull;

const OBJECTS: usize = 90;
const MANIFESTS: usize = 5;
const ROWS: usize = 160;

/// Payloads in two tars and in files of their own, the latter of 900 bytes, which their
/// locators do not say.
struct Bed {
    corpus: Corpus,
    /// Size, and references of each manifest.
    objects: Vec<(u64, BTreeMap<usize, u64>)>,
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
            known.extend(members.into_iter().map(|member| (member.by_range(), member.size)));
        }
        while known.len() < OBJECTS {
            let payload = random.bytes(900);
            known.push((corpus.file(&format!("{}.png", known.len()), &payload), 900));
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
    for policy in ["density", "count"] {
        let mut before = 0;
        for budget in [0u64, 1_596, 9_000, 40_000, 1_000_000] {
            let what = format!("{policy}, {budget} bytes");
            let (out, cache) = (format!("out-{policy}-{budget}"), format!("cache-{policy}-{budget}"));
            let size = format!("{budget}B");
            let limit = ["--cache-limit", &size, "--cache-policy", policy];
            let run = ["materialize", "in", "-o", &out, "--cache", &cache];
            let made = bed.json(&[&run[..], &limit].concat());
            let admission = &made["admission"];
            assert_eq!((&admission["policy"], &admission["budget"]), (&policy.into(), &budget.into()));
            let [objects, bytes] =
                ["admitted_objects", "admitted_bytes"].map(|name| admission[name].as_u64().unwrap());
            assert!(bytes + 96 * objects <= budget, "{what}: {admission}");
            assert!(objects > before || budget == 0, "{what}: {admission}");
            before = objects;

            // Entries take 96 bytes each beside what `size` counts; it knows no sizes of whole files,
            // which are 900 bytes.
            let equal = format!("{}B", bytes + 1);
            let sized = bed.json(&["size", "in", "--assume-size", "900B", "--budget", &equal]);
            let predicted = admission["predicted_hit_rate"].as_f64().unwrap();
            let of_size = sized["budgets"][0]["policies"][policy]["hit_rate"].as_f64().unwrap();
            assert!(of_size >= predicted - 1e-12 && of_size < predicted + 0.05, "{what}: {of_size}");
            let [admitted, inside, held] = ["admitted_hits", "in_shard_duplicates", "held_hits"]
                .map(|name| admission[name].as_u64().unwrap());
            // To the last reference.
            assert_near(predicted * references as f64, admitted as f64, &what);
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
                assert_all_that_recurs_is_admitted(&bed, admission, inside, policy);
            }
        }
    }
}

/// All with two references or more; the others are named once.
fn assert_all_that_recurs_is_admitted(bed: &Bed, admission: &Value, inside: u64, policy: &str) {
    let references = |uses: &BTreeMap<usize, u64>| uses.values().sum::<u64>();
    let recurring = bed.objects.iter().filter(|(_, uses)| references(uses) > 1);
    assert_eq!(admission["admitted_objects"], recurring.clone().count(), "{policy}");
    assert_eq!(admission["admitted_bytes"], recurring.map(|(size, _)| *size).sum::<u64>(), "{policy}");
    assert_eq!(inside, 0, "{policy}");
}
