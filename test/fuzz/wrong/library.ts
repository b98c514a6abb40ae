import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Manifest } from "#sdk/artifact/manifest.ts";
import { prepare } from "#sdk/compile/commands/prepare.ts";
import { loadModel } from "#sdk/local/load-model.ts";
import { wasmPoolEngine } from "#sdk/runtime/engine/wasm-pool/node/index.ts";
import { writePreparableCheckpoint } from "../../fixtures/tiny-bert.ts";
import type { SeededChoice } from "../choose.ts";
import { wrongCase } from "./wrong-case.ts";
import type { WrongInput, WrongInputs } from "./wrong-input.ts";

/** A wrong argument, and what the refusal must name. */
type Argument = readonly [value: unknown, ...names: string[]];

const NOT_A_MODULE: readonly unknown[] = [
  undefined,
  null,
  "simd.wasm",
  Uint8Array.of(0, 97, 115, 109),
  {},
  Promise.resolve(7),
];
const THREADS: readonly unknown[] = [0, -1, 1.5, "2", Number.NaN, Number.POSITIVE_INFINITY, 1e9, null, true, [2]];
const SOURCES: readonly Argument[] = [
  ...[undefined, null, "", 7, {}, [], true].map((value): Argument => [value, "loadModel"]),
  [new URL("file:///models/tiny"), "file:///models/tiny"],
  ["file:///models/tiny", "file:///models/tiny"],
  [Promise.resolve("./artifact"), "loadModel"],
  ["./no-such-folder", "no-such-folder"],
  ["bert-edge-mini", "bert-edge-mini"],
  ["sentence-transformers/all-MiniLM-L6-v2", "sentence-transformers/all-MiniLM-L6-v2"],
  ["~/artifact", "~/artifact"],
];
const LOAD_OPTIONS: readonly Argument[] = [
  [null, "option"],
  ["wasm", "wasm"],
  [{ threads: 2 }, "threads"],
  [{ engines: {} }, "engines"],
  [{ engine: "wasm" }, "engine"],
  [{ engine: {} }, "engine"],
  [{ engine: wasmPoolEngine }, "engine"],
  [{ engine: Promise.resolve({}) }, "engine"],
  [{ store: "s3://models" }, "store"],
  [{ store: {} }, "store"],
];
const TEXTS: readonly Argument[] = [
  ...[undefined, null, 7, {}, { text: "to be" }].map((value): Argument => [value, "Input 0"]),
  ...[[null], [7], [{ text: "to be" }], ["to be", undefined]].map((value): Argument => [value, "Input"]),
];
const EMBED_OPTIONS: readonly Argument[] = [
  [{ truncate: "END" }, "truncate"],
  [{ truncate: "true" }, "truncate"],
  [{ prompt_name: "query" }, "prompt_name"],
  [{ pooling: "mean" }, "pooling"],
  [{ prompt: "query" }, "prompt"],
  [{ promptName: "qery" }, "qery"],
  [{ dimensions: 99_999 }, "dimensions"],
];
const PREPARE: readonly Argument[] = [
  ...[undefined, null, "./model", 7].map((value): Argument => [value, "prepare"]),
  ...["", 7, undefined, {}].map((model): Argument => [{ model }, "model"]),
  [{ model: "./no-such-folder", name: "tiny" }, "no-such-folder"],
  [{ name: "My Model" }, "My Model"],
  ...["edge", [], ["Edge"], ["cpu"], null].map((targets): Argument => [{ targets }, "targets"]),
  ...[3, "8", null].map((tableBits): Argument => [{ tableBits }, "tableBits"]),
  [{ task: "embedding" }, "task"],
  [{ pooling: "avg" }, "pooling"],
  [{ input: "pairs" }, "input"],
  ...["a text", [], [7]].map((calibration): Argument => [{ calibration }, "calibration"]),
  ...["0.9", 2, -1].map((minCosine): Argument => [{ minCosine }, "minCosine"]),
  ...[0, 1.5, "7"].map((timingRounds): Argument => [{ timingRounds }, "timingRounds"]),
  [{ target: ["edge"] }, "target"],
  [{ outDir: "./artifact" }, "outDir"],
  [{ fast: "true" }, "fast"],
  [{ normalize: "no" }, "normalize"],
];

/** Calls of the library in plain JavaScript: `loadModel`, `embed`, `wasmPoolEngine`, and `prepare` of `bert-edge/compile`. */
export const library: WrongInputs = {
  async start() {
    const folders = await wrongFolders();
    const { artifact, checkpoint } = folders;
    const simd = await WebAssembly.compile(
      await readFile(new URL("../../../sdk/dist/kernels/simd.wasm", import.meta.url)),
    );
    type Call = (...args: never[]) => Promise<unknown>;
    const used = async (
      load: Promise<Awaited<ReturnType<typeof loadModel>>>,
      texts: unknown = ["to be"],
      options?: unknown,
    ) => {
      await using model = await load;
      await model.embed(texts as never, options as never);
    };
    const pool = (options: unknown) => async () =>
      used(loadModel(artifact, { engine: wasmPoolEngine(options as never) }));
    const call = (name: string, wrong: unknown, names: readonly string[], give: () => unknown, fixed: () => unknown) =>
      wrongCase({ shown: `${name}(${shownValue(wrong)})`, names, give, fixes: [[/./, fixed]] });
    const sound = () => used(loadModel(artifact));
    return (choice: SeededChoice): WrongInput => {
      switch (choice.below(8)) {
        case 0: {
          const [source, ...names] = choice.of(SOURCES);
          return call("loadModel", source, names, () => used(loadModel(source as never)), sound);
        }
        case 1: {
          const [options, ...names] = choice.of(LOAD_OPTIONS);
          return call(
            "loadModel",
            ["./artifact", options],
            names,
            () => used(loadModel(artifact, options as never)),
            sound,
          );
        }
        case 2: {
          const [texts, ...names] = choice.of(TEXTS);
          return call("model.embed", texts, names, () => used(loadModel(artifact), texts ?? null), sound);
        }
        case 3: {
          const [options, ...names] = choice.of(EMBED_OPTIONS);
          return call(
            "model.embed",
            [["to be"], options],
            names,
            () => used(loadModel(artifact), ["to be"], options),
            sound,
          );
        }
        case 4: {
          const module = choice.of(NOT_A_MODULE);
          const options = choice.of<unknown>([{ simd: module }, { simd, relaxed: module ?? "x" }, module]);
          return call("wasmPoolEngine", options, ["simd", "relaxed"], pool(options), pool({ simd, threads: 1 }));
        }
        case 5: {
          const threads = choice.of(THREADS);
          const options = choice.of([
            { simd, threads },
            { simd, thread: 2 },
          ]);
          return call("wasmPoolEngine", options, ["threads"], pool(options), pool({ simd, threads: 1 }));
        }
        case 6: {
          const [folder, path] = choice.of(
            Object.entries(folders).filter(([name]) => !["artifact", "checkpoint"].includes(name)),
          );
          return call("loadModel", folder, [path], () => used(loadModel(path)), sound);
        }
        default: {
          const [options, ...names] = choice.of(PREPARE);
          const given =
            typeof options === "object" && options !== null ? { model: checkpoint, name: "tiny", ...options } : options;
          // Preparing takes seconds: that it works is shown elsewhere.
          return call(
            "prepare",
            options,
            names,
            () => (prepare as unknown as Call)(given as never),
            () => {},
          );
        }
      }
    };
  },
};

const shownValue = (value: unknown): string =>
  JSON.stringify(value, (_, each: unknown) =>
    typeof each === "function" || each instanceof Promise ? `<${typeof each}>` : each,
  ) ?? "undefined";

/** Makes folders that are no artifacts, or damaged ones. */
async function wrongFolders() {
  const root = await mkdtemp(join(tmpdir(), "bert-edge-wrong-"));
  process.once("exit", () => void rm(root, { recursive: true, force: true }));
  const at = (name: string) => join(root, name);
  await writePreparableCheckpoint(at("checkpoint"));
  await prepare({ model: at("checkpoint"), out: at("artifact"), name: "tiny", targets: ["edge"], fast: true });
  const manifest = JSON.parse(await readFile(join(at("artifact"), "manifest.json"), "utf8")) as Manifest;
  const copy = async (name: string, change: (folder: string) => Promise<void>) => {
    await cp(at("artifact"), at(name), { recursive: true });
    await change(at(name));
  };
  const model = [manifest.targets.edge?.model ?? []].flat()[0] ?? "";
  await copy("of-another-version", (folder) =>
    writeFile(join(folder, "manifest.json"), JSON.stringify({ ...manifest, format: "bert-edge/99" })),
  );
  await copy("without-model", (folder) => rm(join(folder, model)));
  await copy("cut", async (folder) =>
    writeFile(join(folder, model), (await readFile(join(folder, model))).subarray(0, 900)),
  );
  await copy("without-manifest", (folder) => rm(join(folder, "manifest.json")));
  await copy("with-text", (folder) => writeFile(join(folder, "manifest.json"), "not JSON"));
  return {
    ...{ artifact: at("artifact"), checkpoint: at("checkpoint"), "a checkpoint": at("checkpoint") },
    ...{
      "an artifact of another version": at("of-another-version"),
      "an artifact without a model": at("without-model"),
    },
    ...{ "an artifact with a cut model": at("cut"), "an artifact without a manifest": at("without-manifest") },
    ...{ "an artifact with another manifest": at("with-text"), "a file": join(at("artifact"), "manifest.json") },
  };
}
