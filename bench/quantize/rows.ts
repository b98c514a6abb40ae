import { spawnSync } from "node:child_process";
import { bertEdge, python } from "../run-tool.ts";

export interface Subject {
  /** Argument of `bert-edge`: an ONNX file or a model folder. */
  readonly source: string;
  /** The float32 model as a file, in a folder that Python may write to. */
  readonly original: string;
  /** Folder of tokenizer.json. */
  readonly tokenizer?: string;
}

/** One way to quantize a model. */
export interface Row {
  readonly title: string;
  readonly command: readonly string[];
  readonly args: (out: string) => string[];
  /** False for fp16, because CPUs convert float16 to float32. */
  readonly isTimed: boolean;
}

/** Title of the row with which the time and memory of all rows are compared. */
export const BASELINE = "Python quantize_dynamic";
/** Start of the titles of Python's rows. */
export const PYTHON = "Python";

const PYTHON_PARTS = "import onnx, onnxruntime.quantization";

export const hasPython = (): boolean => spawnSync("python3", ["-c", PYTHON_PARTS]).status === 0;

/**
 * Returns the rows that run bert-edge. They do not measure parity, because Python's tool does not measure parity. The
 * exception is int8-static, which needs parity to choose the ranges of activations.
 */
export function bertEdgeRows({ source, tokenizer }: Subject): Row[] {
  const row = (title: string, mode: string, ...options: string[]): Row => ({
    title,
    command: bertEdge("quantize"),
    args: (out) => [
      source,
      out,
      "--mode",
      mode,
      "--json",
      ...(mode === "int8-static" ? [] : ["--no-parity"]),
      ...options,
    ],
    isTimed: mode !== "fp16",
  });
  const texts = tokenizer === undefined ? [] : ["--tokenizer", tokenizer];
  const calibrated = tokenizer === undefined ? "" : ", calibrated";
  return [
    row("int8-dynamic", "int8-dynamic"),
    ...(calibrated ? [row("int8-dynamic, calibrated", "int8-dynamic", ...texts)] : []),
    row(`int8-dynamic${calibrated}, int4 table`, "int8-dynamic", "--table", "int4", ...texts),
    row(`int8-blocks${calibrated}`, "int8-blocks", ...texts),
    row(`int8-static${calibrated}`, "int8-static", ...texts),
    row("fp16", "fp16"),
  ];
}

export function pythonRows({ original }: Subject): Row[] {
  const row = (title: string, ...options: string[]): Row => ({
    title,
    command: python("quantize.py"),
    args: (out) => [original, out, ...options],
    isTimed: true,
  });
  return [
    row(BASELINE),
    row("Python, per channel", "--per-channel"),
    row("Python, after its optimizer", "--optimize"),
    row("Python, after its optimizer, told float32", "--optimize", "--default-float32"),
  ];
}
