//! The list of admitted objects, for a cache that `materialize` fills.

use super::options::{Admission as Wanted, Objective, Options, Policy as Chosen};
use super::report::AdmissionList;
use crate::analysis::admission::{Policy, admit_entries};
use crate::analysis::objects::Objects;
use crate::cache::ENTRY_OVERHEAD;
use crate::commands::admission::{self, Choice};

/// Chooses the objects and writes the list. Entries, not only payloads, fit in the budget.
///
/// Fails when the file cannot be written.
pub fn write(objects: &Objects, wanted: &Wanted, options: &Options) -> anyhow::Result<AdmissionList> {
    let policy = policy(wanted.policy, options.objective);
    let admission = admit_entries(objects, policy, &[wanted.budget_bytes], ENTRY_OVERHEAD).swap_remove(0);
    let admitted = objects.recurring().filter(|&(digest, k, size)| admission.admits(digest, k, size));
    let digests = admitted.map(|(digest, _, _)| digest).collect();
    let totals = objects.totals();
    let narrow = |bytes: u128| u64::try_from(bytes).unwrap_or(u64::MAX);
    let choice = Choice {
        policy: name(wanted.policy).to_owned(),
        budget: wanted.budget_bytes,
        hits: admission.admitted.hits,
        references: totals.references,
        objects: totals.objects,
        bytes: narrow(totals.unique_bytes),
        admitted_bytes: narrow(admission.admitted.bytes),
    };
    let list = admission::Admission::new(choice, digests);
    list.write(&wanted.file)?;
    Ok(AdmissionList {
        file: wanted.file.display().to_string(),
        policy: name(wanted.policy),
        budget: wanted.budget_bytes,
        objects: list.objects(),
        bytes: list.choice.admitted_bytes,
        hit_rate: list.choice.predicted_hit_rate(),
    })
}

fn policy(chosen: Chosen, objective: Objective) -> Policy {
    match chosen {
        Chosen::Count => Policy::Count,
        Chosen::Density => Policy::Density,
        Chosen::Objective => Policy::Objective(objective),
    }
}

fn name(chosen: Chosen) -> &'static str {
    match chosen {
        Chosen::Count => "count",
        Chosen::Density => "density",
        Chosen::Objective => "objective",
    }
}
