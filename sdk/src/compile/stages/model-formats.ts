import type { Target } from "../../artifact/manifest.ts";
import type { Graph } from "../graph/graph.ts";
import { encodeProgram } from "../lower/encode-program.ts";
import type { ProgramSize } from "../lower/lower.ts";
import { encodeOnnx } from "../onnx/to-onnx.ts";

type File = Uint8Array<ArrayBuffer>;

/** What an engine reads. */
export interface ModelFormat {
  readonly extension: string;
  /** Whether layers can stay in a higher precision than the others. */
  readonly mixesPrecisions: boolean;
  encode(graph: Graph): Promise<File>;
}

/** The formats of all engines. */
export function modelFormats(size: ProgramSize): Record<Target["engine"], ModelFormat> {
  const onnx = { extension: "onnx", mixesPrecisions: true, encode: async (graph: Graph) => encodeOnnx(graph) };
  const program = {
    extension: "safetensors",
    mixesPrecisions: false,
    encode: (graph: Graph) => encodeProgram(graph, size),
  };
  return { wasm: program, "ort-web": onnx, "ort-node": onnx };
}

/** A format that keeps the file it has made last, of a graph that is measured and written in turn and changes no more. */
export function keepingLast({ encode, ...format }: ModelFormat): ModelFormat {
  let last: { readonly graph: Graph; readonly file: Promise<File> } | undefined;
  return {
    ...format,
    encode(graph) {
      if (last?.graph !== graph) last = { graph, file: encode(graph) };
      return last.file;
    },
  };
}
