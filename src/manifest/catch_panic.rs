//! Decoders that panic on damaged files, kept from taking the run with them.
//!
//! The parquet crate trusts some of what a file says of itself (a length of 0 to divide by, an
//! index to slice at) and panics where it is not so. For a run that is one manifest that cannot
//! be read.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

thread_local! {
    static CONTAINED: Cell<bool> = const { Cell::new(false) };
}

/// Whether a panic of this thread would become an error here: it need not be printed then.
pub fn panic_is_contained() -> bool {
    CONTAINED.get()
}

/// Does `work`; a panic in it becomes an error. What `work` had borrowed must not be used again
/// after an error, since a panic may have left it half-changed.
pub fn contained<T>(work: impl FnOnce() -> anyhow::Result<T>) -> anyhow::Result<T> {
    let outer = CONTAINED.replace(true);
    let result = catch_unwind(AssertUnwindSafe(work));
    CONTAINED.set(outer);
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
        let divide = |by: usize| contained(|| Ok(12 / by));
        assert_eq!(divide(4).unwrap(), 3);
        assert_eq!(divide(0).unwrap_err().to_string(), "the file is damaged: attempt to divide by zero");
        let formatted = contained::<()>(|| panic!("length {}", 7)).unwrap_err();
        assert_eq!(formatted.to_string(), "the file is damaged: length 7");
    }
}
