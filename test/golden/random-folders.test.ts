import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { outcomeOf, type RandomFolder, type RandomFolders } from "../fixtures/random-folder.ts";
import { temporaryFolder } from "../fixtures/temporary-folder.ts";

/** Numbers of the folders that we refuse, by the file of the library's answers. */
const refused: Readonly<Record<string, readonly number[]>> = {
  "random-folders-4.json": [0, 1, 2, 3, 4, 5, 8],
  "random-folders-5.json": [2, 3, 4],
  "random-folders-pylate.json": [1],
};

describe.each(Object.keys(refused))("two random keys: %s", (file) => {
  const golden = JSON.parse(readFileSync(join(import.meta.dirname, file), "utf8")) as RandomFolders;
  const compared = async (found: RandomFolder) =>
    outcomeOf(join(await temporaryFolder(), "model"), golden, found).then(({ is, what }) => `${is} ${what}`.trim());

  it.each(golden.cases)("$number, $base, has the library's answers or is refused", async (found) => {
    const expected = refused[file]?.includes(found.number) ? /^refused (checkpoint|pairs)_/ : /^agrees$/;
    expect(await compared(found)).toMatch(expected);
  });
});
