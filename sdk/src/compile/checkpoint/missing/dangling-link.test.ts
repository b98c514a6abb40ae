import { mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { folderWith } from "#test/fixtures/folder-with.ts";
import { assertNoDanglingLink } from "./dangling-link.ts";

async function linked(file: string, target: string) {
  const folder = await folderWith({ "blobs/a": "{}", "snapshot/config.json": "{}" });
  await mkdir(join(folder, "snapshot/1_Pooling"));
  await symlink(target, join(folder, "snapshot", file));
  return () => assertNoDanglingLink(join(folder, "snapshot"));
}

describe("links of a model folder", () => {
  // Without its link, each of these files would count as one that the model does not have.
  it.each(["modules.json", "model.safetensors", "model.onnx", "artifact.metadata", "1_Pooling/config.json"])(
    "are refused without their target: %s",
    async (file) => {
      expect(await linked(file, "../blobs/none")).toThrow(
        expect.objectContaining({
          code: "checkpoint_missing",
          message: expect.stringMatching(`${file} is a link to ../blobs/none, which does not exist\\.$`),
        }),
      );
    },
  );

  it.each([
    ["modules.json", "../blobs/a"],
    ["README.md", "../blobs/none"],
  ])("are taken: %s → %s", async (file, target) => {
    expect(await linked(file, target)).not.toThrow();
  });

  it("are none in a folder that does not exist", () => {
    expect(() => assertNoDanglingLink("/no/such/folder")).not.toThrow();
  });
});
