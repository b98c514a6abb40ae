import { describe, expect, it } from "vitest";
import { writtenCase } from "#test/fixtures/checked-golden.ts";
import { quick } from "#test/fixtures/preparable.ts";
import { prepared } from "#test/fixtures/prepared.ts";
import { loadModel } from "../../local/load-model.ts";
import { cosine } from "../../runtime/tasks/sentence-vector.ts";
import { readExpected } from "./read-expected.ts";

describe("readExpected", () => {
  it.each(["embed", "embed, default prompt"])("gives golden texts as a request asks them: %s", async (name) => {
    const { folder, golden: file, lines } = await writtenCase(name);
    const artifact = await prepared({ model: folder, name: "mine", targets: ["edge"], ...quick });
    const { golden, present } = await readExpected(artifact, { golden: file });
    expect(golden.texts).toContain("a");
    expect(present?.lines).toHaveLength(lines.length);
    await using model = await loadModel(artifact);
    const found = await model.embed(golden.texts);
    golden.vectors.forEach((vector, i) => {
      expect(cosine(vector, found[i] as Float32Array), golden.texts[i]).toBeGreaterThan(0.99);
    });
  });
});
