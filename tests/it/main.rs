//! The integration tests, one binary: each module asks one kind of question of the whole.

mod cli;
mod readme;
mod reports;
mod tidy;
