//! A corpus made from objects, and the naive count of it: maps, and nothing shared with the
//! program.

use std::collections::{BTreeMap, BTreeSet};

use onepull::commands::analyze::Report;

use super::forms::{FORMS, Form};
use crate::support::corpus::Corpus;
use crate::support::manifests::Row;
use crate::support::random::Random;

/// Ways to write one locator.
pub const WAYS: usize = 5;

/// An object, and what manifests in `in` write for it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Object {
    /// Below the folder of the corpus, or a URL.
    pub place: String,
    /// Offset and size.
    pub range: Option<(u64, u64)>,
    pub member: Option<String>,
}

impl Object {
    /// Ranges, members, whole files and URLs, in a dozen of folders and hosts.
    pub fn nth(n: usize) -> Object {
        let place = match n % 7 {
            0 => format!("https://host-{}.org/{n}.jpg", n % 3),
            1 => format!("s3://bucket/{n}.jpg"),
            _ => format!("tars-{}/{}.tar", n % 5, n % 11),
        };
        match n % 7 {
            0..=1 => Object { place, range: None, member: None },
            2 => Object { place: format!("loose/{n}.jpg"), range: None, member: None },
            3 => Object { place, range: None, member: Some(format!("{n}.jpg")) },
            _ => Object { place, range: Some((512 * n as u64, 10 + n as u64 * 3 % 977)), member: None },
        }
    }

    fn is_url(&self) -> bool {
        self.place.contains("://")
    }

    pub fn locator(&self, way: usize) -> String {
        let path = if self.is_url() { self.place.clone() } else { format!("../{}", self.place) };
        let mut fields = vec![format!("\"path\":\"{path}\"")];
        fields.extend(self.member.iter().map(|member| format!("\"member\":\"{member}\"")));
        fields.extend(self.range.map(|(offset, _)| format!("\"byte_offset\":{offset}")));
        fields.extend(self.range.map(|(_, size)| format!("\"byte_size\":{size}")));
        match way {
            0 => format!("{{{}}}", fields.join(",")),
            1 => format!("{{ {} }}", fields.join(" , ")),
            2 => {
                fields.reverse();
                format!("{{ {}}}", fields.join(", "))
            }
            3 => format!("{{{},\"frame_index\":null}}", fields.join(",")),
            _ => format!("{{{}}}", fields.join(",")).replace("path", "p\\u0061th"),
        }
    }

    /// What it is reported under, in a corpus at `folder`.
    fn source(&self, folder: &str) -> String {
        if self.is_url() {
            let host = self.place.find("://").unwrap() + 3;
            return self.place[..host + self.place[host..].find('/').unwrap()].into();
        }
        format!("{folder}/{}", self.place.rsplit_once('/').unwrap().0)
    }
}

/// The rows of one manifest, and which objects they need, in which way.
#[derive(Default)]
pub struct Manifest {
    pub rows: Vec<Row>,
    pub needs: Vec<(Object, usize)>,
    pub no_locator: u64,
}

impl Manifest {
    /// Every tenth row is text, some of those with a locator; every fortieth image has none.
    pub fn random(random: &mut Random, rows: usize, objects: usize) -> Manifest {
        let mut manifest = Manifest::default();
        for row in 0..rows {
            let (sample, position) = (format!("s{}", row / 8), (row % 8) as i32);
            // Low numbers more often than high ones.
            let object = Object::nth(random.below(objects).min(random.below(objects)));
            let way = if random.below(4) == 0 { random.below(WAYS) } else { 0 };
            let image = Row::image(sample.clone(), position, object.locator(way));
            manifest.rows.push(match random.below(40) {
                0..=3 => Row::text(sample, position, "words"),
                4 => Row { modality: "text", ..image },
                5 => Row { modality: "metadata", ..image },
                6 => {
                    manifest.no_locator += 1;
                    Row { source_ref: None, ..image }
                }
                _ => {
                    manifest.needs.push((object, way));
                    image
                }
            });
        }
        manifest
    }
}

/// Writes the manifests, each in another form.
pub fn write(corpus: &Corpus, manifests: &[Manifest]) {
    for (number, (manifest, form)) in manifests.iter().zip(FORMS.iter().cycle()).enumerate() {
        write_as(corpus, number, *form, manifest);
    }
}

pub fn write_as(corpus: &Corpus, number: usize, form: Form, manifest: &Manifest) {
    corpus.manifest(&form.name(number), &form.bytes(&manifest.rows));
}

/// References of each object, manifest by manifest.
fn counts(manifests: &[Manifest]) -> BTreeMap<&Object, u64> {
    let mut counts = BTreeMap::new();
    for (object, _) in manifests.iter().flat_map(|manifest| &manifest.needs) {
        *counts.entry(object).or_default() += 1;
    }
    counts
}

/// Compares all that a report counts.
pub fn assert_counts(r: &Report, corpus: &Corpus, manifests: &[Manifest], what: &str) {
    let counts = counts(manifests);
    let all = || manifests.iter().flat_map(|manifest| &manifest.needs);
    let (references, objects) = (all().count() as u64, counts.len() as u64);
    assert_eq!((r.manifests, r.references), (manifests.len() as u64, references), "{what}");
    assert_eq!((r.objects, r.duplicates), (objects, references - objects), "{what}");
    assert_eq!(r.spellings, all().collect::<BTreeSet<_>>().len() as u64, "{what}");
    assert_eq!(r.no_locator, manifests.iter().map(|manifest| manifest.no_locator).sum::<u64>(), "{what}");

    let mut modalities: BTreeMap<&str, u64> = BTreeMap::new();
    for row in manifests.iter().flat_map(|manifest| &manifest.rows) {
        *modalities.entry(row.modality).or_default() += 1;
    }
    assert_eq!((r.rows, &r.rows_by_modality), (modalities.values().sum(), &modalities), "{what}");

    let size = |object: &Object| object.range.map_or(0, |(_, size)| size);
    let mut histogram: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
    let mut sources: BTreeMap<String, (u64, u64, u64)> = BTreeMap::new();
    let (mut reference_bytes, mut sized, mut sized_references) = (0, 0, 0);
    let folder = corpus.path("").canonicalize().unwrap().display().to_string();
    for (object, k) in &counts {
        let bytes = size(object);
        let line = histogram.entry(*k).or_default();
        *line = (line.0 + 1, line.1 + bytes);
        let source = sources.entry(object.source(&folder)).or_default();
        *source = (source.0 + k, source.1 + 1, source.2 + bytes);
        reference_bytes += k * bytes;
        sized += u64::from(object.range.is_some());
        sized_references += if object.range.is_some() { *k } else { 0 };
    }
    let found = r.histogram.iter().map(|line| (line.k, (line.objects, line.bytes)));
    assert_eq!(found.collect::<BTreeMap<_, _>>(), histogram, "{what}");
    assert!(r.histogram.is_sorted_by(|a, b| a.k < b.k), "{what}");
    let found = r.sources.iter().map(|of| (of.prefix.clone(), (of.references, of.objects, of.bytes)));
    assert_eq!(found.collect::<BTreeMap<_, _>>(), sources, "{what}");
    assert!(r.sources.is_sorted_by(|a, b| a.references >= b.references), "{what}");
    let unique_bytes: u64 = histogram.values().map(|line| line.1).sum();
    assert_eq!((r.unique_bytes, r.reference_bytes), (unique_bytes, reference_bytes), "{what}");

    let near = |found: f64, part: u64, whole: u64| {
        assert!((found - part as f64 / whole as f64).abs() < 1e-12, "{what}: {found}, {part}/{whole}");
    };
    near(r.oracle_hit_rate, references - objects, references);
    near(r.oracle_byte_hit_rate.unwrap(), reference_bytes - unique_bytes, reference_bytes);
    near(r.sized_share, sized, objects);
    near(r.sized_reference_share, sized_references, references);
    near(r.mean_multiplicity, references, objects);
    near(r.singleton_share, histogram.get(&1).map_or(0, |line| line.0), objects);
    assert_eq!(r.max_multiplicity, *histogram.last_key_value().unwrap().0, "{what}");
}

/// References to an object that their manifest named before.
pub fn in_task_duplicates(manifests: &[Manifest]) -> u64 {
    let duplicates = |manifest: &Manifest| {
        let objects: BTreeSet<_> = manifest.needs.iter().map(|(object, _)| object).collect();
        (manifest.needs.len() - objects.len()) as u64
    };
    manifests.iter().map(duplicates).sum()
}
