import { describe, expect, it } from "vitest";
import { BertEdgeError } from "../../artifact/error.ts";
import type { Task } from "../../artifact/manifest.ts";
import { Graph } from "../graph/graph.ts";
import { exportRemarks } from "./export-remarks.ts";
import type { FolderGraph } from "./folder-graph.ts";

const embed: Task = { task: "embed", pooling: "mean", normalize: true, dimensions: 4 };
const pairs: Task = { task: "classify", labels: ["score"], input: "pair" };

interface Drawn {
  readonly inputs?: readonly string[];
  readonly others?: readonly string[];
  readonly choice?: FolderGraph["choice"];
  readonly vector?: string;
  readonly fixed?: { readonly texts: number | undefined; readonly tokens: number | undefined };
}

function read({ inputs = [], others = [], choice, fixed }: Drawn): FolderGraph {
  const graph = new Graph("read");
  for (const name of inputs) graph.input(name);
  const file = { path: "/models/a/onnx/model.onnx", graph, fixed, results: ["logits"], others };
  return { graph, file, choice, unused: [] };
}
const remarksOf = (drawn: Drawn, task: Task = embed, tokenTypes = 2) =>
  exportRemarks(read(drawn), { folder: "/models/a", config: { tokenTypes }, task, vector: drawn.vector, stated: 512 });

describe("exportRemarks", () => {
  it("says which of several files was read, and why", () => {
    const untried = ["/models/a/onnx/model_O4.onnx", "/models/a/onnx/model_fp16.onnx"];
    const path = "/models/a/onnx/model.onnx";
    expect(remarksOf({ choice: { path, unfit: [], untried } })).toEqual([
      "The folder has several ONNX files. onnx/model.onnx was read: the first of them that may be a float32 export. To read another one, give its path: onnx/model_O4.onnx, onnx/model_fp16.onnx.",
    ]);
    const error = new BertEdgeError("export_unsupported", "a.onnx is quantized.");
    expect(remarksOf({ choice: { path, unfit: [{ path: "a.onnx", error }], untried: [] } })).toEqual([
      "The folder has several ONNX files. onnx/model.onnx was read: it is the first that can be prepared. a.onnx is quantized.",
    ]);
    expect(remarksOf({ choice: { path, unfit: [], untried: [] } })).toEqual([]);
  });

  it("says that a file has fixed sizes, and where texts are cut", () => {
    const changed = "Its graph was changed to take others, and compared with the file on padded inputs.";
    expect(remarksOf({ fixed: { texts: 1, tokens: 128 } })).toEqual([
      `onnx/model.onnx takes only inputs of 1 × 128. ${changed} Longer texts are cut: export the model with a dynamic length to read up to 512 tokens.`,
    ]);
    expect(remarksOf({ fixed: { texts: undefined, tokens: 512 } })).toEqual([
      `onnx/model.onnx takes only inputs of … × 512. ${changed}`,
    ]);
    expect(remarksOf({ fixed: { texts: 1, tokens: undefined } })).toEqual([
      `onnx/model.onnx takes only inputs of 1 × …. ${changed}`,
    ]);
  });

  it("names outputs that are not used, apart from usual ones", () => {
    const others = ["pooler_output", "hidden_states.1", "sentence_embedding", "sparse"];
    expect(remarksOf({ others, vector: "sentence_embedding" })).toEqual([
      "Outputs of onnx/model.onnx that are not used: sparse.",
    ]);
    expect(remarksOf({ others })).toEqual([
      "Outputs of onnx/model.onnx that are not used: sentence_embedding, sparse.",
    ]);
  });

  it("says that a file lacks the token types of pairs", () => {
    expect(remarksOf({ inputs: ["input_ids"] }, pairs)).toEqual([
      expect.stringContaining("onnx/model.onnx has no input token_type_ids, although config.json has 2 token types"),
    ]);
    expect(remarksOf({ inputs: ["input_ids", "token_type_ids"] }, pairs)).toEqual([]);
    expect(remarksOf({ inputs: ["input_ids"] }, pairs, 1)).toEqual([]);
    expect(remarksOf({ inputs: ["input_ids"] }, embed)).toEqual([]);
  });

  it("says nothing of a model that was read from weights", () => {
    const weights = { graph: new Graph("weights"), file: undefined, choice: undefined, unused: [] };
    expect(
      exportRemarks(weights, {
        folder: "/models/a",
        config: { tokenTypes: 2 },
        task: pairs,
        vector: undefined,
        stated: 512,
      }),
    ).toEqual([]);
  });
});
