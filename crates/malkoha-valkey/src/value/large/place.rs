//! Where a filter has its table, which may be read beside the server.

use std::mem;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::super::table::Table;
use super::Large;

/// How long a waiting change keeps others from borrowing the table, after each check whether it
/// has been given back. Checks are a millisecond apart, or more when the server is busy.
const PRECEDENCE: Duration = Duration::from_millis(100);

/// A filter's table: its own, or one that other threads read too.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "the large one is the common one")]
pub(super) enum Place {
    Own(Table),
    /// The table, `None` while it changes hands; and when a change last had to wait.
    Lent(Option<Arc<Table>>, Option<Instant>),
}

impl Place {
    pub(super) fn get(&self) -> &Table {
        match self {
            Self::Own(table) => table,
            Self::Lent(table, _) => table.as_ref().expect("it is somewhere"),
        }
    }

    /// A table of its own: a copy, if it is still lent.
    pub(super) fn own(&mut self) -> &mut Table {
        if let Self::Lent(table, _) = self {
            let table = table.take().expect("it is somewhere");
            *self = Self::Own(Arc::unwrap_or_clone(table));
        }
        match self {
            Self::Own(table) => table,
            Self::Lent(..) => unreachable!("it has just become its own"),
        }
    }

    pub(super) fn lend(&mut self) -> Arc<Table> {
        let place = mem::replace(self, Self::Lent(None, None));
        let table = match place {
            Self::Own(table) => Arc::new(table),
            Self::Lent(table, _) => table.expect("it is somewhere"),
        };
        *self = Self::Lent(Some(Arc::clone(&table)), None);
        table
    }

    pub(super) fn is_lent(&self) -> bool {
        matches!(self, Self::Lent(Some(table), _) if Arc::strong_count(table) > 1)
    }
}

impl Large {
    pub(in crate::value) fn table(&self) -> &Table {
        self.table.get()
    }

    /// Its table as it is now, to be read by another thread.
    pub(in crate::value) fn lend(&mut self) -> Arc<Table> {
        self.table.lend()
    }

    /// Whether the table is still being read, so that changing it would copy it.
    pub(in crate::value) fn is_lent(&self) -> bool {
        self.table.is_lent()
    }

    /// Notes that a change waits until the table has been given back.
    pub(in crate::value) fn wait_for_table(&mut self) {
        if let Place::Lent(_, waited) = &mut self.table {
            *waited = Some(Instant::now());
        }
    }

    /// Whether a change waits: if the table were lent again, it could wait forever.
    pub(in crate::value) fn is_waited_for(&self) -> bool {
        matches!(&self.table, Place::Lent(_, Some(at)) if at.elapsed() < PRECEDENCE)
    }

    /// Whether its table is still this one, which was lent.
    pub(in crate::value) fn still_has(&self, table: &Arc<Table>) -> bool {
        matches!(&self.table, Place::Lent(Some(lent), _) if Arc::ptr_eq(lent, table))
    }
}
