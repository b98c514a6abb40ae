import fc from "fast-check";
import { seeded } from "./fixtures/seeded.ts";

// Properties that name no seed have this one, so that each run of the tests draws the same.
fc.configureGlobal({ seed: seeded(0).seed });
