//! Broken cache entries.

use std::fs;

use onepull::commands::materialize::{CacheMode, Options};

use super::bed::Bed;
use super::mutation::mutate;
use crate::support::files;
use crate::support::random::Random;

#[test]
fn a_broken_cache_entry_is_never_served_and_heals() {
    let bed = Bed::new();
    bed.corpus.jsonl("m.jsonl", &bed.rows);
    let options = |case| Options { cache_mode: CacheMode::Always, ..bed.options(case) };
    let cache_dir = bed.corpus.path("cache");
    let cold = Options { cache_dir: cache_dir.clone(), ..options(0) };
    bed.run(&cold, "the cold run");
    fs::remove_dir_all(cold.output.unwrap()).unwrap();
    let entries = files::entries(&cache_dir);
    let healthy = files::tree(&cache_dir);
    let (tar, away) = (bed.corpus.path("a.tar"), bed.corpus.path("away.tar"));
    let mut random = Random::new(302);
    for case in 0..300 {
        let entry = &entries[random.below(entries.len())];
        let intact = fs::read(entry).unwrap();
        let mut bytes = intact.clone();
        let what = format!("case {case}, {}", mutate(&mut bytes, &mut random));
        fs::write(entry, &bytes).unwrap();
        // Without its source, an object of a broken entry is lost for the run.
        let gone = case % 4 == 3;
        if gone {
            fs::rename(&tar, &away).unwrap();
        }
        let options = Options { cache_dir: cache_dir.clone(), ..options(case) };
        let (report, rows) = bed.run(&options, &what);
        if gone {
            fs::rename(&away, &tar).unwrap();
        }
        let broken = u64::from(bytes != intact);
        assert_eq!(report.source.reads + report.failed_objects, broken, "{what}");
        assert!(report.failed == 0 || gone, "{what}: {report:?}");
        assert_eq!(bed.check(&rows, &what) as u64, report.materialized, "{what}");
        if report.failed > 0 {
            assert!(fs::read(entry).unwrap() == bytes, "{what}: an entry changed without its source");
            fs::write(entry, intact).unwrap();
        }
        assert!(files::tree(&cache_dir) == healthy, "{what}: the cache is not as before");
        fs::remove_dir_all(options.output.unwrap()).unwrap();
    }
}
