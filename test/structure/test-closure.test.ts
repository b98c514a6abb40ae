import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { temporaryFolder } from "../fixtures/temporary-folder.ts";
import { closureOf } from "./test-closure.ts";

it("follows a test's imports through fixtures, and ends at the product's files", async () => {
  const root = await temporaryFolder();
  const files = {
    "sdk/src/a.test.ts": 'import "vitest";\nimport { f } from "#test/fixtures/f.ts";\nimport "./a.ts";',
    "sdk/src/a.ts": 'import "./deeper.ts";',
    "test/fixtures/f.ts": 'import { b } from "#sdk/b.ts";\nimport "./g.ts";',
    "test/fixtures/g.ts": 'import "./f.ts";',
    "sdk/src/b.ts": "",
  };
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  }
  expect(closureOf(root, "sdk/src/a.test.ts")).toEqual({
    own: ["sdk/src/a.test.ts", "test/fixtures/f.ts", "test/fixtures/g.ts"],
    product: ["sdk/src/a.ts", "sdk/src/b.ts"],
  });
});
