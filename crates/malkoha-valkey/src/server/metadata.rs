//! Commands as `commands.json` describes them: registered, and documented for `COMMAND INFO`.

use std::ffi::{CStr, CString, c_int};
use std::ptr::{null, null_mut};

use serde::Deserialize;
use valkey_module::commands::{self, BeginSearch, FindKeys, KeySpecFlags};
use valkey_module::raw::{
    self, RedisModuleCommandArg, RedisModuleCommandArgType, RedisModuleCommandHistoryEntry,
    RedisModuleCommandInfo, RedisModuleCommandInfoVersion, RedisModuleCommandKeySpec,
    RedisModuleCtx,
};

use super::dispatch::Entry;

/// The category that users grant with `+@cuckoo`.
const ACL_CATEGORY: &CStr = c"cuckoo";

const COMMANDS: &str = include_str!("../../commands.json");

static VERSION: RedisModuleCommandInfoVersion = RedisModuleCommandInfoVersion {
    version: 1,
    sizeof_historyentry: size_of::<RedisModuleCommandHistoryEntry>(),
    sizeof_keyspec: size_of::<RedisModuleCommandKeySpec>(),
    sizeof_arg: size_of::<RedisModuleCommandArg>(),
};

#[derive(Deserialize)]
struct Command {
    name: String,
    summary: String,
    complexity: String,
    since: String,
    arity: c_int,
    flags: Vec<String>,
    keys: Vec<KeySpec>,
    arguments: Vec<Argument>,
}

#[derive(Deserialize)]
struct KeySpec {
    flags: Vec<String>,
    /// The argument's number; of one behind a word, from where on the word is looked for.
    first: c_int,
    /// The word that it comes behind.
    keyword: Option<String>,
    /// Keys after the first; -1: up to the last argument.
    last: c_int,
}

/// Registers all commands; returns what is wrong.
pub(super) fn register(
    context: *mut RedisModuleCtx,
    entries: &[(&str, Entry)],
) -> Result<(), String> {
    let commands: Vec<Command> =
        serde_json::from_str(COMMANDS).map_err(|error| format!("commands.json: {error}"))?;
    let has_category = has!(RedisModule_AddACLCategory)
        && has!(RedisModule_SetCommandACLCategories)
        // SAFETY: the context is that of the load. A server that has the category already refuses.
        && unsafe { call!(RedisModule_AddACLCategory(context, ACL_CATEGORY.as_ptr())) } == 0;
    for command in &commands {
        let entry = entries.iter().find(|(name, _)| *name == command.name);
        let &(_, entry) = entry.ok_or_else(|| format!("{} has no handler", command.name))?;
        create(context, command, entry, has_category).ok_or_else(|| {
            format!("{} is there already, or wrong in commands.json", command.name)
        })?;
    }
    (commands.len() == entries.len()).then_some(()).ok_or_else(|| "a handler is not listed".into())
}

fn create(
    context: *mut RedisModuleCtx,
    command: &Command,
    entry: Entry,
    has_category: bool,
) -> Option<()> {
    // In lower case, as the server spells its own commands in its statistics.
    let name = CString::new(command.name.to_ascii_lowercase()).ok()?;
    let flags = CString::new(command.flags.join(" ")).ok()?;
    // The form that servers had before keywords could announce keys.
    let keys: Vec<_> = command.keys.iter().filter(|key| key.keyword.is_none()).collect();
    let (first, last) = match keys.as_slice() {
        [one] => (one.first, if one.last < 0 { -1 } else { one.first + one.last }),
        [first, ..] => (first.first, -1),
        [] => (0, 0),
    };
    // SAFETY: the context is that of the load; the server copies the texts.
    unsafe {
        if call!(RedisModule_CreateCommand(
            context,
            name.as_ptr(),
            Some(entry),
            flags.as_ptr(),
            first,
            last,
            c_int::from(first != 0)
        )) != 0
        {
            return None;
        }
        let created = call!(RedisModule_GetCommand(context, name.as_ptr()));
        if has_category {
            let categories = CString::new(acl_categories(&command.flags)).ok()?;
            call!(RedisModule_SetCommandACLCategories(created, categories.as_ptr()));
        }
        let text = |text: &str| CString::new(text).ok();
        let (summary, complexity, since) =
            (text(&command.summary)?, text(&command.complexity)?, text(&command.since)?);
        let keys: Option<_> = command.keys.iter().map(key_spec).collect();
        let mut keys = commands::get_redis_key_spec(keys?);
        let mut arguments = argument_list(&command.arguments);
        let info = RedisModuleCommandInfo {
            version: &raw const VERSION,
            summary: summary.as_ptr(),
            complexity: complexity.as_ptr(),
            since: since.as_ptr(),
            history: null_mut(),
            tips: null(),
            arity: command.arity,
            key_specs: keys.as_mut_ptr(),
            args: arguments.as_mut_ptr(),
        };
        (call!(RedisModule_SetCommandInfo(created, &info)) == 0).then_some(())
    }
}

/// Ours and those that the flags mean, which the server gives to its own commands alone.
fn acl_categories(flags: &[String]) -> String {
    let is = |wanted: &str| flags.iter().any(|flag| flag == wanted);
    let access = if is("write") { "write" } else { "read" };
    let speed = if is("fast") { "fast" } else { "slow" };
    format!("{access} {speed} {}", ACL_CATEGORY.to_string_lossy())
}

/// `None` if a flag is unknown.
fn key_spec(spec: &KeySpec) -> Option<commands::KeySpec> {
    let flags = spec.flags.iter().map(|flag| KeySpecFlags::try_from(flag.as_str()).ok());
    let flags: Vec<_> = flags.collect::<Option<_>>()?;
    let begin = match &spec.keyword {
        Some(keyword) => BeginSearch::new_keyword(keyword.clone(), spec.first),
        None => BeginSearch::new_index(spec.first),
    };
    Some(commands::KeySpec::new(None, flags.into(), begin, FindKeys::new_range(spec.last, 1, 0)))
}

/// One of the arguments of a command, as `COMMAND DOCS` lists them.
#[derive(Deserialize)]
struct Argument {
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
            ..END_OF_ARGUMENTS
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

/// The end of a list of arguments.
const END_OF_ARGUMENTS: RedisModuleCommandArg = RedisModuleCommandArg {
    name: null(),
    type_: 0,
    key_spec_index: -1,
    token: null(),
    summary: null(),
    since: null(),
    flags: 0,
    deprecated_since: null(),
    subargs: null_mut(),
    display_text: null(),
};

/// The server's form of a list, which points into it.
fn argument_list(arguments: &[Argument]) -> Vec<RedisModuleCommandArg> {
    // One key specification for each argument that is a key, in their order.
    let keys = arguments.iter().scan(-1, |key, argument| {
        *key += c_int::from(argument.is_key());
        Some(*key)
    });
    arguments
        .iter()
        .zip(keys)
        .map(|(argument, key)| argument.raw(key))
        .chain([END_OF_ARGUMENTS])
        .collect()
}
