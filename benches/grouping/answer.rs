//! What a contestant found out: how many objects are referenced how often.

use std::process::Stdio;

use anyhow::{Context, ensure};
use serde::Deserialize;

use crate::contest::contestant::Contestant;
use crate::corpus::Spec;

/// Part of the report of `onepull analyze`, and all that `group_by.py` prints.
#[derive(Debug, Deserialize, PartialEq, Eq)]
pub struct Answer {
    references: u64,
    objects: u64,
    /// By multiplicity, ascending.
    histogram: Vec<Bin>,
}

/// The objects with `k` references each.
#[derive(Debug, Deserialize, PartialEq, Eq)]
struct Bin {
    k: u64,
    objects: u64,
}

impl Answer {
    /// Runs `contestant`; its answer has to add up to what the corpus was made of.
    pub fn of(contestant: &Contestant, spec: &Spec) -> anyhow::Result<Answer> {
        let name = &contestant.name;
        let answer: Answer =
            serde_json::from_slice(&output(contestant)?).with_context(|| format!("the answer of {name}"))?;
        let sum = |count: fn(&Bin) -> u64| answer.histogram.iter().map(count).sum::<u64>();
        let found =
            [answer.references, answer.objects, sum(|bin| bin.k * bin.objects), sum(|bin| bin.objects)];
        let [references, objects] = [spec.references, spec.objects].map(u64::from);
        ensure!(
            found == [references, objects, references, objects],
            "{name}: {} references to {} objects, by its histogram {} to {}; the corpus has {references} to {objects}",
            found[0],
            found[1],
            found[2],
            found[3],
        );
        Ok(answer)
    }

    /// Fails, and names the first multiplicity that differs, unless both are the same.
    pub fn ensure_equals(&self, other: &Answer) -> anyhow::Result<()> {
        let (ours, theirs) = (&self.histogram, &other.histogram);
        let differing = ours.iter().zip(theirs).find(|(ours, theirs)| ours != theirs);
        ensure!(
            self == other,
            "the histograms differ, first in {differing:?}; {} and {} bins",
            ours.len(),
            theirs.len()
        );
        Ok(())
    }
}

/// Checks that `contestant` prints the number of references.
pub fn ensure_counts(contestant: &Contestant, spec: &Spec) -> anyhow::Result<()> {
    let (name, counted) = (&contestant.name, output(contestant)?);
    let counted = String::from_utf8_lossy(&counted);
    let counted: u32 = counted.trim().parse().with_context(|| format!("{name} printed {counted}"))?;
    ensure!(counted == spec.references, "{name}: {counted} references, the corpus has {}", spec.references);
    Ok(())
}

/// What `contestant` prints.
fn output(contestant: &Contestant) -> anyhow::Result<Vec<u8>> {
    let name = &contestant.name;
    eprintln!("  checking: {name}");
    let output =
        contestant.command().stdin(Stdio::null()).output().with_context(|| format!("starting {name}"))?;
    let stderr = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{name} ended with {}:\n{stderr}", output.status);
    Ok(output.stdout)
}
