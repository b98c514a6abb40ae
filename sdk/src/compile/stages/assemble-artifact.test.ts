import { expect, it } from "vitest";
import { parseManifest } from "../../artifact/manifest.ts";
import type { TextModel } from "../model/text-model.ts";
import { manifestOf } from "./assemble-artifact.ts";

it("the manifest has the accepted keys of the model's folder", () => {
  const file = { sha256: "0".repeat(64), size: 1 };
  const model = {
    task: { task: "answer" },
    maxTokens: 8,
    config: { vocabularySize: 9 },
    tokenizer: { manifest: { kind: "packed", file: "tokenizer.safetensors" } },
    acceptedKeys: ["1_Pooling.mood"],
  } as unknown as TextModel;
  const text = (of: TextModel) => JSON.stringify(manifestOf("mini", of, { "tokenizer.safetensors": file }, {}));
  expect(parseManifest(text(model), "here").acceptedKeys).toEqual(["1_Pooling.mood"]);
  expect(text({ ...model, acceptedKeys: [] })).not.toContain("acceptedKeys");
});
