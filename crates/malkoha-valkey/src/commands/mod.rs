//! The CF.* commands. `commands.json` has their descriptions for the server.

mod add;
mod delete;
mod expire;
mod hash;
mod many;
mod merge;
mod options;
mod query;
mod transfer;

use crate::server::{Entry, entry};

/// The function of each command.
pub(crate) const ENTRIES: [(&str, Entry); 20] = [
    ("CF.RESERVE", entry!(add::reserve)),
    ("CF.ADD", entry!(add::add)),
    ("CF.ADDNX", entry!(add::add_nx)),
    ("CF.INSERT", entry!(add::insert)),
    ("CF.INSERTNX", entry!(add::insert_nx)),
    ("CF.MADD", entry!(add::add_many)),
    ("CF.EXISTS", entry!(query::exists)),
    ("CF.MEXISTS", entry!(query::exists_many)),
    ("CF.COUNT", entry!(query::count)),
    ("CF.INFO", entry!(query::info)),
    ("CF.DEBUG", entry!(query::debug)),
    ("CF.DEL", entry!(delete::delete)),
    ("CF.MDEL", entry!(delete::delete_many)),
    ("CF.COMPACT", entry!(delete::compact)),
    ("CF.MERGE", entry!(merge::merge)),
    ("CF.SCANDUMP", entry!(transfer::scan_dump)),
    ("CF.LOADCHUNK", entry!(transfer::load_chunk)),
    ("CF.DUMP", entry!(transfer::dump)),
    ("CF.LOAD", entry!(transfer::load)),
    ("CF.ADVANCE", entry!(expire::advance)),
];
