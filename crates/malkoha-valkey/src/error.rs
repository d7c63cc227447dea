//! Error replies, in the words that clients know.

use std::borrow::Cow;

use malkoha::{BuildError, UnionError};

use crate::server::max_filter_bytes;
use crate::value::{NotUnited, Refused};

/// An error reply.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum CommandError {
    /// Too few or too many arguments. The server provides the text.
    Arity,
    /// The key holds something else.
    WrongType,
    /// A thread reads the filter, or an earlier change waits for it. The command waits too.
    Lent,
    Message(Cow<'static, str>),
}

impl CommandError {
    pub(crate) const EXISTS: Self = fixed("ERR item exists");
    pub(crate) const NOT_FOUND: Self = fixed("ERR not found");
    pub(crate) const DELETE_NOT_FOUND: Self = fixed("Not found");
    pub(crate) const COMPACT_NOT_FOUND: Self = fixed("Cuckoo filter was not found");
    pub(crate) const BAD_CAPACITY: Self = fixed("Bad capacity: give a number of items");
    pub(crate) const UNKNOWN_ARGUMENT: Self = fixed("Unknown argument received");
    pub(crate) const INVALID_POSITION: Self = fixed("Invalid position");
    pub(crate) const INVALID_HEADER: Self = fixed("Invalid header");
    pub(crate) const NOT_CREATED: Self = fixed("Couldn't create filter!");
    pub(crate) const BAD_CHUNK: Self = fixed("Couldn't load chunk!");
    pub(crate) const LOADING: Self =
        fixed("ERR the filter is being loaded: send its other chunks, or delete the key");
    pub(crate) const OF_REDISBLOOM: Self = fixed(
        "ERR a part of the filter is as RedisBloom had it, which cannot be merged, copied as LIKE or \
         dumped as a file: delete its items, or make a new filter of them",
    );
    pub(crate) const NOT_OF_REDISBLOOM: Self =
        fixed("ERR BESIDE is for a filter that came from RedisBloom and got no item since");
    pub(crate) const MERGE_INTO_ITSELF: Self = fixed(
        "ERR a filter cannot be merged into itself: leave the destination out of the sources",
    );
    pub(crate) const ONE_HASH: Self =
        fixed("ERR a filter has one hash: give SEED, HASHKEY or LIKE");
    pub(crate) const OTHER_HASH: Self = fixed(
        "ERR the filters hash items in different ways: reserve them LIKE one of them, \
         or with the same SEED",
    );
    pub(crate) const OTHER_KIND: Self = fixed(
        "ERR filters that grow, of fixed size, or whose items expire are merged with their like",
    );
    pub(crate) const NEVER_EXPIRES: Self =
        fixed("ERR items of the filter do not expire: time makes no difference to it");
    pub(crate) const BESIDE_EXPIRES: Self =
        fixed("ERR items beside those of RedisBloom cannot expire: leave EXPIRE or BESIDE out");
    pub(crate) const GONE: Self = fixed(
        "ERR the key was deleted, or moved to another name, database or node, while the command \
         ran. What was done for the first items went with it",
    );
    /// After this error, clients of clusters send the command again and are redirected.
    pub(crate) const MOVED: Self =
        fixed("TRYAGAIN the key's slot moved to another node while the command ran");
    pub(crate) const CHANGED: Self = fixed(
        "ERR a filter was deleted, or changed by a transaction or script, while the command ran: \
         try again",
    );
    pub(crate) const INTERNAL: Self =
        fixed("ERR internal error of the malkoha module, see the log");
    pub(crate) const FULL: Self = fixed("Filter is full");
    pub(crate) const NO_MEMORY: Self = fixed(
        "OOM it would take more than 'maxmemory' leaves: raise it, delete something, or ask for less",
    );

    pub(crate) fn too_large() -> Self {
        Self::message(format!(
            "ERR Insufficient memory to create filter: malkoha.max-filter-bytes is {}: raise it, \
             or ask for less",
            max_filter_bytes()
        ))
    }

    pub(crate) fn message(text: String) -> Self {
        Self::Message(Cow::Owned(text))
    }

    /// An option's value is not a number of its kind.
    pub(crate) fn unparsed(option: &str) -> Self {
        Self::message(format!("Couldn't parse {option}"))
    }
}

const fn fixed(text: &'static str) -> CommandError {
    CommandError::Message(Cow::Borrowed(text))
}

impl From<BuildError> for CommandError {
    fn from(error: BuildError) -> Self {
        Self::message(format!("ERR {error} (defaults: malkoha.error-rate, malkoha.growth)"))
    }
}

impl From<NotUnited> for CommandError {
    fn from(error: NotUnited) -> Self {
        match error {
            NotUnited::TooLarge => Self::too_large(),
            NotUnited::Kinds => Self::OTHER_KIND,
            NotUnited::Unlike(UnionError::Seed) => Self::OTHER_HASH,
            NotUnited::Unlike(error) => Self::message(format!("ERR {error}")),
        }
    }
}

impl From<Refused> for CommandError {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::Full => Self::FULL,
            Refused::AtLimit => fixed("Maximum expansions reached"),
        }
    }
}
