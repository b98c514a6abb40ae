import { join } from "node:path";
import { sameNameAllowed } from "./allowed-names.ts";
import { readEntries, readSources } from "./imports.ts";
import { backwardImports, circles, crowdedWing, misplacedBuiltIns, sharedNames, unreachedFiles } from "./violations.ts";

/** Checks the structure of the SDK: `npm run check:structure`. */
const sdk = join(import.meta.dirname, "../../sdk");
const files = readSources(join(sdk, "src"));
const violations = [
  ...backwardImports(files),
  ...misplacedBuiltIns(files),
  ...circles(files),
  ...sharedNames(files, sameNameAllowed),
  ...crowdedWing(files),
  ...unreachedFiles(files, readEntries(sdk)),
];
for (const violation of violations) console.error(violation);
if (violations.length > 0) {
  console.error(`\n${violations.length} violations. Rooms and their order: test/structure/layers.ts.`);
  process.exitCode = 1;
}
