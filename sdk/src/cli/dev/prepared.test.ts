import { cp, mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { preparedTiny } from "#test/fixtures/prepared-tiny.ts";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import { writePreparableCheckpoint } from "#test/fixtures/tiny-bert.ts";
import type { TargetName } from "../../artifact/manifest.ts";
import type { PrepareOptions, PrepareReport } from "../../compile/commands/prepare.ts";
import { assertServable, preparedArtifact } from "./prepared.ts";

type Asked = PrepareOptions & { readonly out: string };

async function modelOfProject() {
  const root = await temporaryFolder();
  const folder = join(root, "models/tiny");
  await writePreparableCheckpoint(folder);
  const asked: Asked[] = [];
  const prepare = async (options: Asked) => {
    asked.push(options);
    await cp(await preparedTiny(), options.out, { recursive: true });
    return { manifest: { targets: {} }, passedOver: [] } as unknown as PrepareReport;
  };
  const open = (targets: TargetName[] = ["edge"], acceptKeys?: string[]) =>
    preparedArtifact({ root, folder, targets, acceptKeys, onProgress: () => {}, prepare });
  return { folder, kept: join(root, ".bert-edge/dev/tiny"), asked, open };
}

it("prepares a model once, and again when one of its files changes", async () => {
  const { folder, kept, asked, open } = await modelOfProject();
  expect((await open()).manifest.name).toBe("tiny");
  await open();
  expect(asked).toMatchObject([{ model: folder, name: "tiny", targets: ["edge"] }]);
  expect(asked[0]?.out).toMatch(new RegExp(`^${kept}/[0-9a-f]{16}$`));

  await writeFile(join(folder, "README.md"), "changed");
  await mkdir(join(kept, ".unfinished"));
  await open();
  expect(asked).toHaveLength(2);
  // The older artifact is removed. An unfinished one may belong to a run that is still preparing.
  expect(await readdir(kept)).toEqual([".unfinished", asked[1]?.out.slice(kept.length + 1)]);
  expect(asked[1]?.out).not.toBe(asked[0]?.out);
});

it("prepares a model again for other targets", async () => {
  const { asked, open } = await modelOfProject();
  await open();
  await open(["edge", "regional-cpu"]);
  expect(asked.map(({ targets }) => targets)).toEqual([["edge"], ["edge", "regional-cpu"]]);
});

it("prepares a model again with other accepted keys", async () => {
  const { asked, open } = await modelOfProject();
  await open();
  await open(["edge"], ["1_Pooling.mood"]);
  expect(asked.map(({ acceptKeys }) => acceptKeys)).toEqual([[], ["1_Pooling.mood"]]);
});

it("says that an artifact has no keys to accept", async () => {
  const acceptKeys = ["1_Pooling.mood"];
  const artifact = assertServable({ root: "", folder: await preparedTiny(), targets: ["edge"], acceptKeys });
  await expect(artifact).rejects.toMatchObject({
    code: "setting_invalid",
    hint: expect.stringContaining("--accept-key"),
  });
});

it("says how to make a kept artifact again that is damaged", async () => {
  const { asked, open } = await modelOfProject();
  const { manifest } = await open();
  await rm(join(asked[0]?.out ?? "", manifest.targets.edge?.model ?? ""));
  await expect(open()).rejects.toMatchObject({
    code: "artifact_corrupt",
    hint: expect.stringMatching(/^Remove \.bert-edge\/dev\/tiny\/[0-9a-f]{16} and start again\./),
  });
});
