import { testTokenizer } from "#test/suites/tokenizer-suite.ts";
import { createJsonTokenizer } from "./json-tokenizer.ts";

testTokenizer("a tokenizer read from JSON", createJsonTokenizer);
