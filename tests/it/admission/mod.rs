//! What a cache of limited size does not take is read once for each shard that needs it, nothing else
//! is read twice, and the hit rate is the predicted one plus the duplicates inside shards.

mod bed;
mod command_line;
mod reads;
mod reruns;
