import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { memoryFile } from "#test/fixtures/torch-file.ts";
import type { BertEdgeError } from "../../../artifact/error.ts";
import { numbersOf, type Tensor } from "../../graph/tensor.ts";
import { readPickled } from "./read-pickled.ts";

interface Golden {
  readonly read: Readonly<
    Record<string, Readonly<Record<string, { dtype: string; shape: number[]; values: number[] }>>>
  >;
  readonly refused: readonly string[];
}

const FOLDER = new URL("../../../../../test/golden/", import.meta.url);
const golden = JSON.parse(readFileSync(new URL("pickles.json", FOLDER), "utf8")) as Golden;

const conversion = () => ({ command: "convert", to: undefined });
const read = (name: string): Map<string, Tensor> =>
  readPickled(
    memoryFile(new Uint8Array(readFileSync(new URL(`pickles/${name}.bin`, FOLDER)))),
    "model.bin",
    conversion,
  );

function errorOf(name: string): BertEdgeError {
  try {
    read(name);
  } catch (error) {
    return error as BertEdgeError;
  }
  throw new Error(`${name} was read.`);
}

describe("readPickled", () => {
  it.each(Object.entries(golden.read))("reads what torch reads: %s", (name, expected) => {
    const found = Array.from(read(name), ([key, tensor]) => [
      key,
      { dtype: tensor.dtype, shape: tensor.shape, values: numbersOf(tensor) },
    ]);
    expect(found).toEqual(Object.entries(expected));
  });

  it("reads tied weights as one tensor", () => {
    const tensors = read("views");
    expect(tensors.get("tied")).toBe(tensors.get("whole"));
  });

  const refusals: Readonly<Record<string, string>> = {
    "before-1.6": "was written in the format of PyTorch before 1.6",
    "big-endian": "is big-endian",
    compressed: "is compressed (entry archive/byteorder)",
    nested: 'has a dict with the name "state_dict" instead of a tensor',
    number: 'has 3 with the name "epoch" instead of a tensor',
    tensor: "has a tensor instead of a dict of tensors",
    list: "uses the pickle opcode EMPTY_LIST, which weights do not need",
    module: "uses __main__.Small, which weights do not need",
    expanded: "has an expanded tensor (weight)",
    negative: "has a tensor with metadata, such as a negative view of another tensor",
    complex: "uses torch.ComplexFloatStorage, which weights do not need",
    float8: "uses torch.float8_e4m3fn, which weights do not need",
    sparse: "uses torch._utils._rebuild_sparse_tensor, which weights do not need",
    quantized: "uses torch._utils._rebuild_qtensor, which weights do not need",
    "protocol-4": "is a pickle of protocol 4",
    torchscript: "is a TorchScript archive",
  };

  it("has a reason for each file that is refused", () => {
    expect(Object.keys(refusals)).toEqual(golden.refused);
  });

  it.each(Object.entries(refusals))("refuses by name: %s", (name, reason) => {
    const { code, message, hint } = errorOf(name);
    expect({ code, message }).toEqual({ code: "checkpoint_unsupported", message: `model.bin ${reason}.` });
    expect(hint).toContain(name === "nested" || name === "torchscript" ? "save_file(" : "    convert\n");
  });
});
