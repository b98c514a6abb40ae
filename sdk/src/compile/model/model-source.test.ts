import { describe, expect, it } from "vitest";
import { tinyExport, withSentenceEmbedding } from "#test/fixtures/tiny-export.ts";
import { readModelSource } from "./model-source.ts";

describe("readModelSource", () => {
  it("reads the ONNX file of a folder with all its outputs, as if the file were named", async () => {
    const head = { pooling: "cls", normalize: false } as const;
    const { folder, path, parent } = await tinyExport((graph) => withSentenceEmbedding(graph, head));
    const [ofFolder, ofFile] = [await readModelSource(folder), await readModelSource(path)];
    expect(ofFolder.graph.outputs.map(({ name }) => name)).toEqual(["token_embeddings", "sentence_embedding"]);
    expect(ofFolder.graph.nodes.size).toBe(ofFile.graph.nodes.size);
    expect(await ofFolder.writeOriginal(parent)).toBe(path);
  });
});
