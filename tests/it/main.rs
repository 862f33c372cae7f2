//! The integration tests, one binary: each module asks one kind of question of the whole.

mod admission;
mod analyze;
mod bounded;
mod cases;
mod cli;
mod conformance;
mod damage;
mod determinism;
mod founding;
mod full;
mod killed;
mod readme;
mod reports;
mod sharing;
mod sizing;
mod support;
mod tidy;
