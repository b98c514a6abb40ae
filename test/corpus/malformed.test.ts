import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { fuseGraph } from "#sdk/compile/fusions/fuse-graph.ts";
import { fromOnnx } from "#sdk/compile/onnx/from-onnx.ts";
import { encodeModel } from "#sdk/compile/proto/encode-model.ts";
import type { GraphProto, ModelProto, TensorProto } from "#sdk/compile/proto/onnx-messages.ts";
import { temporaryFolder } from "../fixtures/temporary-folder.ts";
import { attempt } from "../fuzz/onnx/attempt.ts";
import { soundModel } from "../fuzz/onnx/damage.ts";
import { fusedCounts } from "../oracles/run-model.ts";

async function attemptOf(model: ModelProto | Uint8Array): Promise<string> {
  const path = join(await temporaryFolder(), "model.onnx");
  await writeFile(path, model instanceof Uint8Array ? model : encodeModel(model).finish());
  return attempt(path);
}

/** Changes a valid model, and returns the outcome for the changed model. */
async function changed(change: (graph: GraphProto, model: ModelProto) => void): Promise<string> {
  const model = soundModel();
  change(model.graph as GraphProto, model);
  return attemptOf(model);
}

const node = (graph: GraphProto, opType: string) => {
  const found = graph.node.find((each) => each.opType === opType);
  if (!found) throw new RangeError(`The model has no ${opType}.`);
  return found;
};

describe("a damaged model", () => {
  it("is refused if it is truncated to any multiple of 1/64 of its length", async () => {
    const bytes = encodeModel(soundModel()).finish();
    for (let part = 0; part < 64; part++) {
      expect(await attemptOf(bytes.slice(0, Math.floor((bytes.length * part) / 64))), `at ${part}/64`).toBe(
        "onnx_invalid",
      );
    }
    expect(await attemptOf(bytes)).toBe("accepted");
  });

  it.each<[string, string, (graph: GraphProto, model: ModelProto) => void]>([
    [
      "whose node reads its own result",
      "graph_invalid",
      (graph) => {
        const { input, output } = node(graph, "Softmax");
        input[0] = output[0] as string;
      },
    ],
    [
      "whose nodes form a large circle",
      "graph_invalid",
      (graph) => {
        node(graph, "Gather").input[0] = graph.output[0]?.name as string;
      },
    ],
    [
      "that lacks a constant",
      "graph_invalid",
      (graph) => {
        graph.initializer.pop();
      },
    ],
    [
      "that lacks the node of an output",
      "graph_invalid",
      (graph) => {
        graph.node.pop();
      },
    ],
    [
      "that defines a value twice",
      "graph_invalid",
      (graph) => {
        graph.node.push(graph.node[0] as GraphProto["node"][number]);
      },
    ],
    [
      "whose constant has fewer bytes than its shape says",
      "onnx_invalid",
      (graph) => {
        graph.initializer[0]?.dims.push(2n);
      },
    ],
    [
      "whose constant has a negative size",
      "onnx_invalid",
      (graph) => {
        if (graph.initializer[0]) graph.initializer[0].dims = [-1n, -4n];
      },
    ],
    [
      "whose constant has a size that overflows",
      "onnx_invalid",
      (graph) => {
        if (graph.initializer[0]) graph.initializer[0].dims = [2n ** 63n - 1n, 2n ** 63n - 1n];
      },
    ],
    [
      "without a graph",
      "onnx_invalid",
      (_, model) => {
        delete model.graph;
      },
    ],
  ])("%s is refused", async (_, code, change) => {
    expect(await changed(change)).toBe(code);
  });
});

describe("a model with wrong shapes", () => {
  const LIE = { dim: [{ dimValue: 3n }, { dimValue: 5n }, { dimParam: "nonsense" }] };

  it("is fused by inferred shapes, not by its declared ones", async () => {
    const [honest, lying] = [soundModel(), soundModel()];
    for (const name of lying.graph?.node.flatMap(({ output }) => output) ?? []) {
      lying.graph?.valueInfo.push({ name, type: { tensorType: { elemType: 6, shape: LIE } }, metadataProps: [] });
    }
    const graphs = [honest, lying].map(fromOnnx);
    for (const graph of graphs) await fuseGraph(graph);
    const [wanted, found] = graphs.map(({ nodes }) => fusedCounts(nodes));
    expect(wanted).toMatchObject({ Attention: 1, EmbedLayerNormalization: 1 });
    expect(found).toEqual(wanted);
  });

  it.each([0, 1, 2])("for input %d is accepted with these shapes or refused", async (index) => {
    for (const dims of [[], [3n], [0n, 0n], [1n, 2n, 3n], [-1n, -1n], [2n ** 62n, 2n ** 62n]]) {
      const outcome = await changed(({ input }) => {
        const type = input[index]?.type?.tensorType;
        if (type) type.shape = { dim: dims.map((dimValue) => ({ dimValue })) };
      });
      expect(outcome, `[${dims}]`).toMatch(/^(accepted|graph_invalid|onnx_invalid)$/);
    }
  });
});

describe("a model with external data", () => {
  const SECRET = "what nobody may read";

  /** Places in a model that can hold a tensor. The function of each place adds a tensor there. */
  const places: Readonly<Record<string, (model: ModelProto, tensor: TensorProto) => void>> = {
    "an initializer": ({ graph }, tensor) => graph?.initializer.push(tensor),
    "an attribute": ({ graph }, tensor) => {
      graph?.node[0]?.attribute.push(attributeOf({ t: tensor }));
    },
    "a list of tensors": ({ graph }, tensor) => {
      graph?.node[0]?.attribute.push(attributeOf({ tensors: [tensor] }));
    },
    "a sub-graph": ({ graph }, tensor) => {
      const nothing = { node: [], input: [], output: [], valueInfo: [], sparseInitializer: [], metadataProps: [] };
      const inner = { ...nothing, initializer: [tensor] };
      graph?.node[0]?.attribute.push(attributeOf({ g: inner }));
    },
  };

  const attributeOf = (value: object) => ({
    name: "value",
    type: 4,
    ...{ floats: [], ints: [], strings: [], tensors: [], graphs: [], typeProtos: [], sparseTensors: [] },
    ...value,
  });

  const external = (entries: Readonly<Record<string, string>>): TensorProto => ({
    ...{ floatData: [], int32Data: [], stringData: [], int64Data: [], doubleData: [], uint64Data: [] },
    ...{ metadataProps: [], name: "stolen", dims: [BigInt(SECRET.length)], dataType: 2, dataLocation: 1 },
    externalData: Object.entries(entries).map(([key, value]) => ({ key, value })),
  });

  /** Makes a folder with links to a secret file outside it. */
  async function folderNextToSecret(): Promise<{ folder: string; secret: string }> {
    const parent = await temporaryFolder();
    const [folder, secret] = [join(parent, "model"), join(parent, "secret.bin")];
    await mkdir(folder);
    await writeFile(secret, SECRET);
    await writeFile(join(folder, "weights.bin"), SECRET);
    await symlink(secret, join(folder, "link.bin"));
    await symlink(parent, join(folder, "up"));
    return { folder, secret };
  }

  it.each(Object.keys(places))("in %s reads nothing outside its folder", async (where) => {
    const { folder, secret } = await folderNextToSecret();
    const path = join(folder, "model.onnx");
    const outcomeOf = async (entries: Readonly<Record<string, string>>) => {
      const model = soundModel();
      places[where]?.(model, external(entries));
      await writeFile(path, encodeModel(model).finish());
      return attempt(path);
    };
    const outside = [
      "../secret.bin",
      secret,
      "link.bin",
      "up/secret.bin",
      "./../secret.bin",
      "a/../../secret.bin",
      ".",
    ];
    for (const location of ["", "missing.bin", "\0", ...outside]) {
      expect(await outcomeOf({ location }), location).toBe("external_data_invalid");
    }
    for (const range of [{ offset: "1" }, { length: "-1" }, { length: "999999999999999" }, { offset: "1e1" }]) {
      const outcome = await outcomeOf({ location: "weights.bin", length: String(SECRET.length), ...range });
      expect(outcome, JSON.stringify(range)).toBe("external_data_invalid");
    }
    expect(await outcomeOf({ location: "weights.bin" })).toBe("accepted");
  });
});
