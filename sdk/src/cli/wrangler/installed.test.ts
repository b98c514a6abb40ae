import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import { assertWranglerFor, wranglerFor } from "./installed.ts";

describe("assertWranglerFor", () => {
  async function withWrangler(version: string): Promise<string> {
    const root = await temporaryFolder();
    await mkdir(join(root, "node_modules/wrangler"), { recursive: true });
    await writeFile(join(root, "node_modules/wrangler/package.json"), JSON.stringify({ version }));
    return root;
  }

  it.each([
    ["dev", wranglerFor.dev],
    ["dev", "5.0.0"],
    ["deploy", wranglerFor.deploy],
  ] as const)("accepts, for %s, %s", async (command, version) => {
    assertWranglerFor(command, await withWrangler(version));
  });

  it.each([
    ["dev", "3.114.0"],
    ["dev", "4.27.9"],
    ["deploy", wranglerFor.dev],
  ] as const)("refuses, for %s, %s, and says how to update it", async (command, version) => {
    const root = await withWrangler(version);
    expect(() => assertWranglerFor(command, root)).toThrow(
      expect.objectContaining({
        code: "package_missing",
        message: `\`bert-edge ${command}\` needs wrangler ${wranglerFor[command]} or newer, and ${version} is installed.`,
        hint: expect.stringMatching(/^Update it with: .* wrangler@latest$/),
      }),
    );
  });
});
