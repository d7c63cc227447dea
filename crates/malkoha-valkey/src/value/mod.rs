//! The values of the module's keys.

mod chunks;
mod filter;
mod loading;
mod properties;
mod redisbloom;
mod small;
pub(crate) mod stats;
mod stream;
mod table;
#[expect(clippy::module_inception, reason = "its only public type is `Value`")]
mod value;

pub(crate) use filter::{Refused, StoredFilter};
pub(crate) use loading::Loading;
pub(crate) use properties::{Expiry, Properties, parse_rate};
pub(crate) use redisbloom::{Chain, ENCODING_VERSION as REDISBLOOM_VERSION, HEADER_BYTES};
pub(crate) use small::Small;
pub(crate) use stream::{Damaged, Sink, Source};
pub(crate) use table::{NotUnited, Table};
pub(crate) use value::{ENCODING_VERSION, OWN_CHUNKS, Value};
