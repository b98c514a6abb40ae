import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import type { Task } from "../../artifact/manifest.ts";
import { readTaskData } from "./task-data.ts";

const embed: Task = { task: "embed", pooling: "mean", normalize: true, dimensions: 2 };
const classify: Task = { task: "classify", labels: ["no", "yes"], input: "text" };

async function file(text: string): Promise<string> {
  const path = join(await temporaryFolder(), "data.tsv");
  await writeFile(path, text);
  return path;
}

const STS = "5\ta\ta\n0\ta\tb\n";

describe("readTaskData", () => {
  it("returns undefined without a file", async () => {
    expect(await readTaskData(embed, {})).toBeUndefined();
    expect(await readTaskData(classify, {})).toBeUndefined();
  });

  it("scores sentence encoders on pairs, and classifiers on labels", async () => {
    const sts = await readTaskData(embed, { sts: await file(STS) });
    const vectors = (texts: readonly string[]) => texts.map((text) => Float32Array.of(text === "a" ? 1 : 0, 1));
    expect(sts?.metric).toBe("sts");
    expect(await sts?.score(async (texts) => vectors(texts))).toBeCloseTo(100, 10);
    const labelled = await readTaskData(classify, { labelled: await file("a\tno\nb\tyes\nc\t1\nd\t0\n") });
    expect(labelled?.metric).toBe("accuracy");
    expect(await labelled?.score(async (texts) => vectors(texts))).toBe(75);
  });

  it.each<[string, Task, "sts" | "labelled", string]>([
    ["labels for an encoder", embed, "labelled", "--sts"],
    ["pairs for a classifier", classify, "sts", "--labelled"],
  ])("refuses %s before it reads the file, and names the right option", async (_, task, key, hint) => {
    const work = readTaskData(task, { [key]: "/nowhere.tsv" });
    await expect(work).rejects.toMatchObject({ code: "data_unsuitable", hint: expect.stringContaining(hint) });
  });

  it("refuses pairs that all have the same score, because they have no correlation", async () => {
    const work = readTaskData(embed, { sts: await file("3\ta\ta\n3\ta\tb\n") });
    await expect(work).rejects.toMatchObject({
      code: "data_unsuitable",
      message: expect.stringContaining("same score"),
    });
  });

  it.each<[string, object]>([
    ["data_missing", { sts: "/nowhere.tsv" }],
    ["data_invalid", { sts: import.meta.filename }],
  ])("passes on the reader's error %s", async (code, files) => {
    await expect(readTaskData(embed, files)).rejects.toMatchObject({ code });
  });
});
