//! The table behind a handle.

use std::any::Any;
use std::sync::RwLock;

use malkoha::tables::{Expiring, Fixed, Growing};
use malkoha::{AnyFilter, Filter, MappedFilter, MappedMap, UnionError, Values};

use crate::kinds::{Aging, Map, Pairs, Read, Set, read, write};
use crate::status::{Failure, Status};

/// The table of a handle.
pub(crate) enum Table {
    Set(Box<dyn Set>),
    Expiring(Box<dyn Aging>),
    Map(Box<dyn Map>),
    MappedSet(MappedFilter),
    MappedMap(MappedMap),
}

/// A kind that takes turns.
pub(crate) fn locked<F>(filter: F) -> Box<RwLock<F>> {
    Box::new(RwLock::new(filter))
}

impl TryFrom<AnyFilter> for Table {
    type Error = Failure;

    fn try_from(any: AnyFilter) -> Result<Self, Failure> {
        Ok(match any {
            AnyFilter::Set(set) => Self::Set(locked(set)),
            AnyFilter::GrowableSet(set) => Self::Set(locked(set)),
            AnyFilter::Map(map) => Self::Map(locked(map)),
            AnyFilter::GrowableMap(map) => Self::Map(locked(map)),
            AnyFilter::ExpiringSet(set) => Self::Expiring(locked(set)),
            AnyFilter::GrowableExpiringSet(set) => Self::Expiring(locked(set)),
            other => {
                let text = format!(
                    "a {} cannot be used from C yet: use it from Rust or the command",
                    other.kind().name()
                );
                return Err(Failure::new(Status::Kind, text));
            }
        })
    }
}

impl Table {
    pub(crate) fn read(&self) -> &dyn Read {
        match self {
            Self::Set(set) => &**set,
            Self::Expiring(set) => &**set,
            Self::Map(map) => &**map,
            Self::MappedSet(set) => set,
            Self::MappedMap(map) => map,
        }
    }

    pub(crate) const fn is_map(&self) -> bool {
        matches!(self, Self::Map(_) | Self::MappedMap(_))
    }

    pub(crate) const fn is_read_only(&self) -> bool {
        matches!(self, Self::MappedSet(_) | Self::MappedMap(_))
    }

    /// The set, to be changed.
    pub(crate) fn set(&self) -> Result<&dyn Set, Failure> {
        match self {
            Self::Set(set) => Ok(&**set),
            Self::Expiring(set) => Ok(&**set),
            Self::MappedSet(_) => Err(read_only()),
            _ => Err(another("a map, whose keys have values: call malkoha_put() and its like")),
        }
    }

    /// The set whose keys expire, if it is one.
    pub(crate) fn expiring(&self) -> Option<&dyn Aging> {
        if let Self::Expiring(set) = self { Some(&**set) } else { None }
    }

    /// The map, to be changed.
    pub(crate) fn map(&self) -> Result<&dyn Map, Failure> {
        match self {
            Self::Map(map) => Ok(&**map),
            Self::MappedMap(_) => Err(read_only()),
            _ => Err(another("a set, without values: call malkoha_insert() and its like")),
        }
    }

    /// The map, to be asked.
    pub(crate) fn pairs(&self) -> Result<&dyn Pairs, Failure> {
        match self {
            Self::Map(map) => Ok(&**map),
            Self::MappedMap(map) => Ok(map),
            _ => Err(another("a set, without values: call malkoha_contains() and its like")),
        }
    }

    pub(crate) fn clear(&self) -> Result<(), Failure> {
        match self {
            Self::Set(set) => set.clear(),
            Self::Expiring(set) => set.clear(),
            Self::Map(map) => map.clear(),
            _ => return Err(read_only()),
        }
        Ok(())
    }

    /// A union of sets or maps.
    pub(crate) fn unite(&self, other: &Self) -> Result<(), Failure> {
        let united = match (self, other) {
            (Self::Set(a), Self::MappedSet(b)) => {
                any(&**a).map(|a| Ok(write::<Filter<Fixed>>(a).union_with(b)?))
            }
            (Self::Map(a), Self::MappedMap(b)) => {
                any(&**a).map(|a| Ok(write::<Filter<Fixed, Values>>(a).union_with(b)?))
            }
            (Self::Set(a), Self::Set(b)) => both(&**a, &**b, Filter::<Fixed>::union_with)
                .or_else(|| both(&**a, &**b, Filter::<Growing>::union_with)),
            (Self::Map(a), Self::Map(b)) => both(&**a, &**b, Filter::<Fixed, Values>::union_with)
                .or_else(|| both(&**a, &**b, Filter::<Growing, Values>::union_with)),
            (Self::Expiring(a), Self::Expiring(b)) => {
                both(&**a, &**b, Filter::<Expiring<Fixed>>::union_with)
                    .or_else(|| both(&**a, &**b, Filter::<Expiring<Growing>>::union_with))
            }
            (Self::MappedSet(_) | Self::MappedMap(_), _) => Some(Err(read_only())),
            _ => None,
        };
        united.unwrap_or_else(|| Err(kinds_differ()))
    }
}

fn any<F: 'static>(table: &dyn Any) -> Option<&RwLock<F>> {
    table.downcast_ref()
}

/// Unites the second with the first, if both are of this type.
fn both<F: Clone + 'static>(
    a: &dyn Any,
    b: &dyn Any,
    unite: fn(&mut F, &F) -> Result<(), UnionError>,
) -> Option<Result<(), Failure>> {
    let (a, b) = (any::<F>(a)?, any::<F>(b)?);
    // The other is copied, so that no two threads wait for each other's filters.
    let b = read(b).clone();
    Some(unite(&mut write(a), &b).map_err(Failure::from))
}

fn read_only() -> Failure {
    Failure::new(
        Status::Kind,
        "the table lies in a mapped file and cannot change: open it with malkoha_open()",
    )
}

fn another(what: &str) -> Failure {
    Failure::new(Status::Kind, format!("this is {what}"))
}

fn kinds_differ() -> Failure {
    Failure::new(
        Status::Union,
        "only two sets, two whose keys expire, or two maps can be united that are both of fixed \
         size or both growable, and not shared",
    )
}
