import { realpath } from "node:fs/promises";
import { dirname, isAbsolute, relative, resolve, sep } from "node:path";
import { BertEdgeError } from "../../artifact/error.ts";
import { partOf, release, type StoredBytes, type StoredFile, storedFile } from "../files/stored-file.ts";
import { decodeModel } from "../proto/decode-model.ts";
import type { GraphProto, ModelProto, NodeProto, TensorProto } from "../proto/onnx-messages.ts";

/** Value of the enum TensorProto.DataLocation for data in another file. */
const EXTERNAL = 1;

/**
 * Reads an ONNX file and its external data. The result does not show which tensors are external. Large weights stay in
 * their files and are read each time they are used, so the files must not change.
 *
 * @throws BertEdgeError `onnx_missing`, `onnx_invalid`, or `external_data_invalid` if a tensor's data is missing, out
 *   of range or outside the model's folder. Later, when weights are read: `file_changed`.
 */
export async function readOnnx(path: string): Promise<ModelProto> {
  const file = openModel(path);
  const bytes = file.subarray(0, file.length);
  const model = decodeModel(bytes, {
    bytes: (view) => view.slice(),
    weights: ({ byteOffset, length }) => partOf(file, byteOffset, byteOffset + length),
  });
  release(bytes);
  const external = [...tensorsOf(model)].filter(({ dataLocation }) => dataLocation === EXTERNAL);
  if (external.length === 0) return model;

  const files = new ExternalFiles(await realpath(dirname(path)));
  for (const tensor of external) {
    tensor.rawData = await files.read(tensor);
    tensor.externalData = [];
    delete tensor.dataLocation;
  }
  return model;
}

function openModel(path: string): StoredFile {
  const unreadable = (hint: string, cause?: unknown) =>
    new BertEdgeError("onnx_missing", `${path} cannot be read.`, { hint, cause });
  let file: StoredFile;
  try {
    file = storedFile(path);
  } catch (cause) {
    throw unreadable("Check the path and the permissions of the file.", cause);
  }
  if (file.length >= MAX_PROTOBUF_BYTES)
    throw unreadable("The file is over 2 GB, the limit of protobuf. Export the model with external data.");
  return file;
}

/** Size limit of a protobuf file: https://protobuf.dev/programming-guides/proto-limits */
const MAX_PROTOBUF_BYTES = 2 ** 31;

/** Opens the files that hold a model's external tensors. */
class ExternalFiles {
  readonly #folder: string;
  readonly #known = new Map<string, StoredFile>();

  /** @param folder the model's folder, with symbolic links resolved */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /**
   * Returns the bytes of an external tensor.
   *
   * @throws BertEdgeError `external_data_invalid`
   */
  async read(tensor: TensorProto): Promise<Uint8Array<ArrayBuffer> | StoredBytes> {
    const entries = new Map(tensor.externalData.map(({ key = "", value = "" }) => [key, value]));
    const location = entries.get("location") ?? "";
    const refuse = (what: string, cause?: unknown) =>
      new BertEdgeError(
        "external_data_invalid",
        `The data of tensor ${tensor.name} in ${location || "an unnamed file"} ${what}.`,
        {
          hint: "Keep the model's files together in one folder, as they were exported.",
          cause,
        },
      );
    const file = await this.#file(location).catch((cause: unknown) => {
      throw cause instanceof RangeError ? refuse(cause.message) : refuse("cannot be read", cause);
    });
    const offset = wholeNumber(entries.get("offset") ?? "0");
    const length = wholeNumber(entries.get("length") ?? String(file.length - offset));
    if (!(offset + length <= file.length)) {
      throw refuse(
        `is at bytes ${entries.get("offset") ?? 0} to ${offset + length}, but the file has ${file.length} bytes`,
      );
    }
    return partOf(file, offset, offset + length);
  }

  async #file(location: string): Promise<StoredFile> {
    const known = this.#known.get(location);
    if (known) return known;
    // The model is untrusted: neither the file name nor a symbolic link may lead out of the folder.
    const named = resolve(this.#folder, location);
    if (location === "" || isAbsolute(location) || !this.#holds(named)) throw new RangeError(OUTSIDE);
    const path = await realpath(named);
    if (!this.#holds(path)) throw new RangeError(OUTSIDE);
    const file = storedFile(path);
    this.#known.set(location, file);
    return file;
  }

  #holds(path: string): boolean {
    const inside = relative(this.#folder, path);
    return inside !== "" && inside !== ".." && !inside.startsWith(`..${sep}`) && !isAbsolute(inside);
  }
}

const OUTSIDE = "is outside the model's folder";

/** Parses a non-negative integer. Returns NaN for other text, so that the check of the range fails. */
const wholeNumber = (text: string): number => (/^\d{1,15}$/.test(text) ? Number(text) : Number.NaN);

/** Lists every tensor of a model: initializers and tensors in attributes, also inside sub-graphs and functions. */
function* tensorsOf(model: ModelProto): Generator<TensorProto> {
  if (model.graph) yield* tensorsOfGraph(model.graph);
  for (const { node } of model.functions) yield* tensorsOfNodes(node);
}

function* tensorsOfGraph(graph: GraphProto): Generator<TensorProto> {
  yield* graph.initializer;
  for (const { values, indices } of graph.sparseInitializer) {
    if (values) yield values;
    if (indices) yield indices;
  }
  yield* tensorsOfNodes(graph.node);
}

function* tensorsOfNodes(nodes: readonly NodeProto[]): Generator<TensorProto> {
  for (const attribute of nodes.flatMap((node) => node.attribute)) {
    if (attribute.t) yield attribute.t;
    yield* attribute.tensors;
    if (attribute.g) yield* tensorsOfGraph(attribute.g);
    for (const graph of attribute.graphs) yield* tensorsOfGraph(graph);
  }
}
