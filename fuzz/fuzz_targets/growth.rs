#![no_main]

use libfuzzer_sys::fuzz_target;
use malkoha_fuzz::growth;

fuzz_target!(|case: growth::Case| growth::run(case));
