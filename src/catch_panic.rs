//! Turns a panic of a decoder into an error.
//!
//! The parquet crate trusts some of what a file says of itself (a length of 0 to divide by, an
//! index to slice at) and panics where it is wrong. For a run, that is one manifest that cannot
//! be read.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

thread_local! {
    static CAUGHT: Cell<bool> = const { Cell::new(false) };
}

/// Whether a panic of this thread would become an error here, and need not be printed.
pub fn panic_is_caught() -> bool {
    CAUGHT.get()
}

/// Does `work`; a panic in it becomes an error. After an error, do not use what `work` borrowed
/// mutably: a panic may have left it half-changed.
pub fn catch_panic<T>(work: impl FnOnce() -> anyhow::Result<T>) -> anyhow::Result<T> {
    let outer = CAUGHT.replace(true);
    let result = catch_unwind(AssertUnwindSafe(work));
    CAUGHT.set(outer);
    result.unwrap_or_else(|panic| Err(anyhow::anyhow!("the file is damaged: {}", message(&*panic))))
}

fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("its decoder gave up")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_error_that_says_what_happened() {
        let divide = |by: usize| catch_panic(|| Ok(12 / by));
        assert_eq!(divide(4).unwrap(), 3);
        assert_eq!(divide(0).unwrap_err().to_string(), "the file is damaged: attempt to divide by zero");
        let formatted = catch_panic::<()>(|| panic!("length {}", 7)).unwrap_err();
        assert_eq!(formatted.to_string(), "the file is damaged: length 7");
    }
}
