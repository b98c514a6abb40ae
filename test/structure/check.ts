import { readFileSync } from "node:fs";
import { join } from "node:path";
import { sameNameAllowed } from "./allowed-names.ts";
import { readAssemblyImports, readEntries, readSources } from "./imports.ts";
import { walk } from "./layers.ts";
import { silentRewrites } from "./silent-rewrites.ts";
import {
  backwardImports,
  circles,
  crowdedFolders,
  crowdedWing,
  crumbs,
  misplacedBuiltIns,
  reachedFrom,
  sharedNames,
  unreachedFiles,
} from "./violations.ts";

/** Checks the structure of the SDK: `npm run check:structure`. */
const sdk = join(import.meta.dirname, "../../sdk");
const files = readSources(join(sdk, "src"));
const entries = readEntries(sdk);
const rewrites = files
  .filter(({ path }) => path.startsWith("compile/"))
  .flatMap(({ path }) => silentRewrites(path, readFileSync(join(sdk, "src", path), "utf8")));
const walked = [...reachedFrom([walk.from], files)];
console.log(`${walked.length} files are reached from ${walk.from}: ${walked.join(", ")}`);
const violations = [
  ...backwardImports(files),
  ...misplacedBuiltIns(files),
  ...circles(files),
  ...sharedNames(files, sameNameAllowed),
  ...crowdedWing(files),
  ...unreachedFiles(files, entries),
  ...crumbs(files, [...entries, ...readAssemblyImports(join(sdk, "src"))]),
  ...crowdedFolders(files),
  ...rewrites,
  ...(walked.length > walk.atMost
    ? [`${walked.length} files are reached from ${walk.from}, at most ${walk.atMost}`]
    : []),
];
for (const violation of violations) console.error(violation);
if (violations.length > 0) {
  console.error(`\n${violations.length} violations. Rooms and their order: test/structure/layers.ts.`);
  process.exitCode = 1;
}
