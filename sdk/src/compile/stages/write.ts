import { access } from "node:fs/promises";
import { totalLength } from "../../artifact/total-length.ts";
import type { Graph } from "../graph/graph.ts";
import type { ModelSource } from "../model/model-source.ts";
import { writeOnnx } from "../onnx/write-onnx.ts";
import { type WrittenArtifact, writeArtifact } from "../pack/write-artifact.ts";
import type { Stage } from "./stage.ts";

interface WriteFolderInput {
  readonly out: string;
  readonly artifact: WrittenArtifact;
}

/** Writes an artifact folder. */
export const writeFolder: Stage<WriteFolderInput, { readonly bytes: number }> = {
  name: "write",
  describe: ({ out }) => `write ${out}`,
  async run({ out, artifact }) {
    await writeArtifact(out, artifact);
    return { bytes: totalLength([...artifact.files.values()]) };
  },
  report: (written) => written,
};

interface WriteModelInput {
  readonly path: string;
  readonly graph: Graph;
  readonly envelope: ModelSource["envelope"];
}

/** Writes a graph as an ONNX file. */
export const writeModel: Stage<WriteModelInput, { readonly hasExternalData: boolean }> = {
  name: "write",
  describe: () => "write the model",
  async run({ path, graph, envelope }) {
    await writeOnnx(path, graph, envelope);
    const hasExternalData = await access(`${path}.data`).then(
      () => true,
      () => false,
    );
    return { hasExternalData };
  },
  report: (written) => written,
};
