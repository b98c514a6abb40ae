import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { preparable } from "../fixtures/preparable.ts";

const FOLDER = new URL("pickles/", import.meta.url);
/** Sizes of the model in pickles.py. */
const config = { vocab_size: 104, max_position_embeddings: 32 };

describe("a model that PyTorch and safetensors saved", () => {
  it("gives the same files", async () => {
    const [pickled, safe] = [
      { "pytorch_model.bin": "tiny-bert.bin" },
      { "model.safetensors": "tiny-bert.safetensors" },
    ];
    const filesOf = async (weights: Readonly<Record<string, string>>) => {
      const [[name = "", source = ""] = []] = Object.entries(weights);
      const files = { "model.safetensors": undefined, [name]: await readFile(new URL(source, FOLDER)) };
      const { manifest } = await (await preparable({ config, files })).run();
      return manifest.files;
    };
    const found = await filesOf(pickled);
    expect(Object.keys(found)).toContain("model.int8-edge.safetensors");
    expect(found).toEqual(await filesOf(safe));
  });
});
