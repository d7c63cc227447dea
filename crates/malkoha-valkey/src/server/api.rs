//! The server's functions, which it fills in when it loads the module.

/// Calls a function of the server. Only inside `unsafe`: the arguments must be what it expects.
macro_rules! call {
    ($name:ident($($argument:expr),* $(,)?)) => {
        // Written once, before any callback can run, by the only thread there is then.
        (valkey_module::raw::$name.expect(concat!("the server has ", stringify!($name))))(
            $($argument),*
        )
    };
}
pub(super) use call;

/// Whether the server has a function: old servers lack some.
macro_rules! has {
    ($name:ident) => {{
        // SAFETY: written once, before any callback can run; a plain word is read.
        let function = unsafe { valkey_module::raw::$name };
        function.is_some()
    }};
}
pub(super) use has;
