import { access } from "node:fs/promises";
import { isAbsolute, relative } from "node:path";
import { openFolder } from "../../storage/folder-artifact.ts";
import type { Graph } from "../graph/graph.ts";
import type { ModelSource } from "../model/model-source.ts";
import { writeOnnx } from "../onnx/write-onnx.ts";
import { writeArtifact } from "../pack/write-artifact.ts";
import type { Stage } from "./stage.ts";

interface WriteFolderInput {
  readonly out: string;
  /** The finished artifact folder. */
  readonly folder: string;
}

/** Writes an artifact folder. */
export const writeFolder: Stage<WriteFolderInput, { readonly bytes: number }> = {
  name: "write",
  describe: ({ out }) => `write ${shortPath(out)}`,
  async run({ out, folder }) {
    const { manifest } = await openFolder(folder);
    await writeArtifact(out, folder);
    return { bytes: Object.values(manifest.files).reduce((sum, { size }) => sum + size, 0) };
  },
  report: (written) => written,
};

/** Returns a path as it is typed in the current folder, if it is below. */
function shortPath(path: string): string {
  const here = relative(process.cwd(), path);
  return isAbsolute(path) && !here.startsWith("..") && !isAbsolute(here) ? here : path;
}

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
