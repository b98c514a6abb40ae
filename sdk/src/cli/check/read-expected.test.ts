import { describe, expect, it, onTestFinished } from "vitest";
import { writtenCase } from "#test/fixtures/checked-golden.ts";
import { float32Model } from "#test/fixtures/float32-model.ts";
import { type GoldenFolder, goldenFolders, writeGoldenFolder } from "#test/fixtures/golden-folder.ts";
import { quick } from "#test/fixtures/preparable.ts";
import { prepared } from "#test/fixtures/prepared.ts";
import { loadModel } from "../../local/load-model.ts";
import { embedCall } from "../../runtime/tasks/embed.ts";
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
    const { embeddings: found } = await model.embed(golden.texts);
    golden.vectors.forEach((vector, i) => {
      expect(cosine(vector, found[i] as Float32Array), golden.texts[i]).toBeGreaterThan(0.99);
    });
  });

  it("gives golden texts of a model that leaves its default prompt out of the pooling, prepared without a golden file", async () => {
    const [, stored] =
      goldenFolders<GoldenFolder>("sentences.json").find(([name]) => name === "prompt out of mean") ?? [];
    const { files = {}, tensors = {} } = stored ?? {};
    const config = files["config_sentence_transformers.json"] as { prompts: Record<string, string> };
    const [name] = Object.entries(config.prompts).find(([, prompt]) => prompt !== "") ?? [];
    const folder = await writeGoldenFolder({
      files: { ...files, "config_sentence_transformers.json": { ...config, default_prompt_name: name } },
      tensors,
    });
    const artifact = await prepared({ model: folder, name: "mine", targets: ["edge"], ...quick });
    const { golden } = await readExpected(artifact);
    expect(golden.texts.length).toBeGreaterThan(0);
    const model = await float32Model(folder);
    onTestFinished(() => model.release());
    const found = await model.call(embedCall(golden.texts, { truncate: true }));
    golden.vectors.forEach((vector, i) => {
      expect(cosine(vector, found[i] as Float32Array), golden.texts[i]).toBeGreaterThan(0.999999);
    });
  });
});
