import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { addRegion } from "./add-region.ts";

// The package has copies of these files.
vi.mock("./write-project.ts", () => ({
  readSource(path: string) {
    const [own, shared] = ["../template", "../.."].map((folder) => join(import.meta.dirname, folder, path));
    return readFileSync(existsSync(own as string) ? (own as string) : (shared as string), "utf8");
  },
}));

it("addRegion writes nothing if the package manager of the project cannot be used", () => {
  const folder = mkdtempSync(join(tmpdir(), "create-bert-edge-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const files = { "package.json": "{}", "pnpm-lock.yaml": "", "wrangler.toml": 'name = "my-api"\nMODEL = "minilm"\n' };
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
  const check = vi.fn(() => {
    throw new Error("pnpm is not installed");
  });
  const add = () => addRegion(folder, "container", { chosen: undefined, running: "npm", check });
  expect(add).toThrow("pnpm is not installed");
  expect(check).toHaveBeenCalledExactlyOnceWith("pnpm");
  expect(readdirSync(folder)).toEqual(Object.keys(files));
  expect(readFileSync(join(folder, "package.json"), "utf8")).toBe("{}");
});
