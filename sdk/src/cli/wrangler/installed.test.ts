import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import { assertWranglerFor, packageFile, packageVersion, wranglerFor } from "./installed.ts";

/** Installs wrangler below a folder. Returns the path of its package.json. */
async function install(folder: string, description: object): Promise<string> {
  const at = join(folder, "node_modules", "wrangler");
  await mkdir(at, { recursive: true });
  await writeFile(join(at, "package.json"), JSON.stringify(description));
  return join(at, "package.json");
}

describe("packageFile", () => {
  it("finds a file of a package in the folder, or in one above it, the nearest first", async () => {
    const folder = await temporaryFolder();
    const project = join(folder, "apps", "search");
    const above = await install(folder, {});
    expect(packageFile(folder, "wrangler", "package.json")).toBe(above);
    expect(packageFile(project, "wrangler", "package.json")).toBe(above);
    const own = await install(project, {});
    expect(packageFile(project, "wrangler", "package.json")).toBe(own);
    expect(packageFile(join(folder, "apps"), "wrangler", "package.json")).toBe(above);
  });

  it("goes on above a package that does not have the file", async () => {
    const folder = await temporaryFolder();
    const project = join(folder, "app");
    await install(project, {});
    const bin = join(folder, "node_modules", "wrangler", "bin", "wrangler.js");
    await mkdir(join(bin, ".."), { recursive: true });
    await writeFile(bin, "");
    expect(packageFile(project, "wrangler", "bin/wrangler.js")).toBe(bin);
  });

  it("names a package that is not installed, what it is for, and how to add it", () => {
    expect(() => packageFile("/", "wrangler", "bin/wrangler.js")).toThrow(
      expect.objectContaining({
        code: "package_missing",
        message: "The package wrangler is not installed. bert-edge needs it to run a Worker on this machine.",
        hint: expect.stringMatching(/^Add it with: .*wrangler/),
      }),
    );
  });
});

describe("packageVersion", () => {
  it.each([
    [{ name: "wrangler", version: "4.1.2" }, "4.1.2"],
    [{ name: "wrangler" }, undefined],
  ])("of %j is %s", async (description, version) => {
    const folder = await temporaryFolder();
    await install(folder, description);
    expect(packageVersion(folder, "wrangler")).toBe(version);
  });

  it("needs the package", () => {
    expect(() => packageVersion("/", "wrangler")).toThrow(expect.objectContaining({ code: "package_missing" }));
  });
});

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
