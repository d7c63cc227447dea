#![no_main]

use libfuzzer_sys::fuzz_target;
use malkoha_fuzz::decode;

fuzz_target!(|bytes: &[u8]| decode::run(bytes));
