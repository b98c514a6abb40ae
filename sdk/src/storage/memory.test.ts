import { testAtomicPuts, testWritableStore } from "#test/suites/store-suite.ts";
import { memoryStore } from "./memory.ts";

testWritableStore("memoryStore", async () => memoryStore());
testAtomicPuts("memoryStore", async () => memoryStore());
