import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { outcomeOf, type RandomFolder, type RandomFolders } from "../fixtures/random-folder.ts";
import { temporaryFolder } from "../fixtures/temporary-folder.ts";

/** Numbers of the folders that we refuse, by the version of transformers that wrote them. */
const refused: Readonly<Record<number, readonly number[]>> = { 4: [0, 2, 7, 17], 5: [2, 7, 17] };

describe.each(Object.keys(refused).map(Number))("folders of transformers %i with two random keys", (version) => {
  const file = join(import.meta.dirname, `random-folders-${version}.json`);
  const golden = JSON.parse(readFileSync(file, "utf8")) as RandomFolders;
  const compared = async (found: RandomFolder) =>
    outcomeOf(join(await temporaryFolder(), "model"), golden, found).then(({ is, what }) => `${is} ${what}`.trim());

  it.each(golden.cases)("$number, $base, has the library's answers or is refused", async (found) => {
    const expected = refused[version]?.includes(found.number) ? /^refused checkpoint_/ : /^agrees$/;
    expect(await compared(found)).toMatch(expected);
  });
});
