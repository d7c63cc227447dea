#![no_main]

use libfuzzer_sys::fuzz_target;
use malkoha_fuzz::operations;

fuzz_target!(|case: operations::Case| operations::run(case));
