//! The arguments of commands, as `COMMAND DOCS` lists them.

use std::ffi::{CString, c_int};
use std::ptr::null;

use serde::Deserialize;
use valkey_module::raw::{self, RedisModuleCommandArg, RedisModuleCommandArgType};

/// One of the arguments of a command.
#[derive(Deserialize)]
pub(super) struct Argument {
    name: CString,
    #[serde(rename = "type")]
    kind: String,
    /// The word before it.
    token: Option<CString>,
    #[serde(default)]
    optional: bool,
    #[serde(default)]
    multiple: bool,
}

impl Argument {
    fn is_key(&self) -> bool {
        self.kind == "key"
    }

    fn raw(&self, key: c_int) -> RedisModuleCommandArg {
        let flag = |set: bool, flag: u32| if set { flag.cast_signed() } else { 0 };
        RedisModuleCommandArg {
            name: self.name.as_ptr(),
            type_: type_of(&self.kind),
            key_spec_index: if self.is_key() { key } else { -1 },
            token: self.token.as_ref().map_or(null(), |token| token.as_ptr()),
            flags: flag(self.optional, raw::REDISMODULE_CMD_ARG_OPTIONAL)
                | flag(self.multiple, raw::REDISMODULE_CMD_ARG_MULTIPLE),
            ..END
        }
    }
}

fn type_of(kind: &str) -> RedisModuleCommandArgType {
    match kind {
        "key" => raw::RedisModuleCommandArgType_REDISMODULE_ARG_TYPE_KEY,
        "integer" => raw::RedisModuleCommandArgType_REDISMODULE_ARG_TYPE_INTEGER,
        "double" => raw::RedisModuleCommandArgType_REDISMODULE_ARG_TYPE_DOUBLE,
        "pure-token" => raw::RedisModuleCommandArgType_REDISMODULE_ARG_TYPE_PURE_TOKEN,
        _ => raw::RedisModuleCommandArgType_REDISMODULE_ARG_TYPE_STRING,
    }
}

/// What a list of arguments ends with.
const END: RedisModuleCommandArg = RedisModuleCommandArg {
    name: null(),
    type_: 0,
    key_spec_index: -1,
    token: null(),
    summary: null(),
    since: null(),
    flags: 0,
    deprecated_since: null(),
    subargs: std::ptr::null_mut(),
    display_text: null(),
};

/// The server's form of a list, which points into it.
pub(super) fn list(arguments: &[Argument]) -> Vec<RedisModuleCommandArg> {
    // One key specification for each argument that is a key, in their order.
    let keys = arguments.iter().scan(-1, |key, argument| {
        *key += c_int::from(argument.is_key());
        Some(*key)
    });
    arguments.iter().zip(keys).map(|(argument, key)| argument.raw(key)).chain([END]).collect()
}
