//! Items are added and deleted.

use super::StoredFilter::{Large as IsLarge, Small as IsSmall};
use super::{Refused, StoredFilter};

impl StoredFilter {
    /// Adds a copy of an item, or one that is not in already, unless the filter takes `max_bytes`;
    /// returns whether it was added.
    pub(crate) fn insert(
        &mut self,
        item: &[u8],
        absent_only: bool,
        max_bytes: u64,
    ) -> Result<bool, Refused> {
        if let IsSmall(small) = self
            && let Some(added) = small.insert(item, absent_only)
        {
            return Ok(added);
        }
        let large = self.large();
        if absent_only {
            large.insert_unique(item, max_bytes)
        } else {
            large.insert(item, max_bytes).map(|()| true)
        }
    }

    /// Adds a copy of each item, or of each that is not in already; returns which were added.
    pub(crate) fn insert_all(
        &mut self,
        items: &[&[u8]],
        absent_only: bool,
        max_bytes: u64,
    ) -> Vec<Result<bool, Refused>> {
        let mut outcomes = Vec::new();
        if let IsSmall(small) = self {
            outcomes.extend(items.iter().map_while(|item| small.insert(item, absent_only)).map(Ok));
        }
        let left = &items[outcomes.len()..];
        if outcomes.is_empty() || !left.is_empty() {
            outcomes.extend(self.large().insert_all(left, absent_only, max_bytes));
        }
        outcomes
    }

    /// Deletes a copy of an item; returns whether it was there.
    pub(crate) fn remove(&mut self, item: &[u8]) -> bool {
        let removed = if let IsSmall(small) = self { small.remove(item) } else { None };
        removed.unwrap_or_else(|| self.large().remove(item))
    }

    /// Deletes a copy of each item; returns which were there.
    pub(crate) fn remove_all(&mut self, items: &[&[u8]]) -> Vec<bool> {
        match self {
            IsLarge(large) => large.remove_all(items),
            IsSmall(_) => items.iter().map(|item| self.remove(item)).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use malkoha::KeyHasher;

    use super::*;
    use crate::value::Properties;
    use crate::value::small::tests::PROPERTIES;
    use crate::value::table::Table;

    #[test]
    fn what_is_added_unless_it_is_in_stays_in() {
        let properties = Properties { capacity: 4, error_rate: 0.2, growth: 1e4, ..PROPERTIES };
        let mut stored = StoredFilter::create(properties, None, KeyHasher::new(0)).unwrap();
        let items: Vec<[u8; 4]> = (0..20_000_u32).map(u32::to_le_bytes).collect();
        for item in &items {
            stored.insert(item, true, u64::MAX).unwrap();
        }
        let lost = items.iter().filter(|item| !stored.contains(*item, 0)).count();
        assert_eq!(lost, 0);
    }

    /// A replica gets the items of a long command in pieces, and its primary added them in smaller
    /// ones. Where a piece had 1024 items, it sorted them, and had them in other slots.
    #[test]
    fn a_table_does_not_depend_on_how_items_are_cut() {
        let items: Vec<[u8; 4]> = (0..20_000_u32).map(u32::to_le_bytes).collect();
        let items: Vec<&[u8]> = items.iter().map(<[u8; 4]>::as_slice).collect();
        let filled = |pieces: usize, absent_only| {
            let mut stored = StoredFilter::create(PROPERTIES, None, KeyHasher::sip13(1)).unwrap();
            for piece in items.chunks(pieces) {
                stored.insert_all(piece, absent_only, u64::MAX);
            }
            let Table::Lasting(filter) = stored.table().into_owned() else { unreachable!() };
            filter
        };
        for absent_only in [false, true] {
            let small = filled(64, absent_only);
            for pieces in [512, 1024, 2048, items.len()] {
                assert!(filled(pieces, absent_only) == small, "{pieces} items at a time");
            }
        }
    }
}
