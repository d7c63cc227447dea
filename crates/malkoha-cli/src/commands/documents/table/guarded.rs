//! Reading files of which the Parquet library believes what it should not.

use std::cell::Cell;
use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::path::Path;
use std::sync::Once;

use anyhow::{Context, Result, bail};
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::file::serialized_reader::SerializedPageReader;

use crate::input::name;

/// The most values of a page. Levels that repeat need no bytes.
const MOST_VALUES: u32 = 1 << 26;

/// Pages whose sizes are possible, because the decoders allocate memory for them. Their headers,
/// which say up to 2 GiB of a page to decompress, are not to be seen here.
pub(super) struct Checked {
    pub(super) pages: SerializedPageReader<File>,
    /// Bytes of a value in a dictionary.
    pub(super) least: usize,
}

impl PageReader for Checked {
    fn get_next_page(&mut self) -> ParquetResult<Option<Page>> {
        let page = self.pages.get_next_page()?;
        if let Some(page) = &page {
            let values = page.num_values();
            let is_dictionary = matches!(page, Page::DictionaryPage { .. });
            let room = page.buffer().len() / self.least.max(1);
            if values > MOST_VALUES || is_dictionary && values as usize > room {
                return Err(ParquetError::General(format!("a page of {values} values")));
            }
        }
        Ok(page)
    }

    fn peek_next_page(&mut self) -> ParquetResult<Option<PageMetadata>> {
        self.pages.peek_next_page()
    }

    fn skip_next_page(&mut self) -> ParquetResult<()> {
        self.pages.skip_next_page()
    }

    fn at_record_boundary(&mut self) -> ParquetResult<bool> {
        self.pages.at_record_boundary()
    }
}

impl Iterator for Checked {
    type Item = ParquetResult<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

pub(super) fn damaged(path: &Path) -> String {
    format!("cannot read {}: it is damaged", name(path))
}

/// Does work of the Parquet library, some of which panics if a file is damaged.
pub(super) fn guarded<T>(path: &Path, work: impl FnOnce() -> Result<T>) -> Result<T> {
    thread_local! {
        static WITHIN: Cell<bool> = const { Cell::new(false) };
    }
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let hook = take_hook();
        set_hook(Box::new(move |panic| {
            if !WITHIN.get() {
                hook(panic);
            }
        }));
    });
    WITHIN.set(true);
    let done = catch_unwind(AssertUnwindSafe(work));
    WITHIN.set(false);
    match done {
        Ok(done) => done.with_context(|| format!("cannot read {}", name(path))),
        Err(_) => bail!(damaged(path)),
    }
}
