import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describeFiles } from "#sdk/artifact/describe-file.ts";
import { MAX_PAGE_READS, oneModel, type TokenIds } from "#sdk/runtime/engine/engine.ts";
import { wasmEngine } from "#sdk/runtime/engine/wasm/index.ts";
import { modelFilesOf } from "#sdk/runtime/model-files.ts";
import { fsStore } from "#sdk/storage/fs.ts";
import type { ObjectStore } from "#sdk/storage/store.ts";
import { storedArtifact } from "#sdk/storage/stored-artifact.ts";
import { fusedGraph } from "../../fixtures/fused-graph.ts";
import { pagedFile } from "../../fixtures/paged-file.ts";
import { measurements, smallManifest } from "../../fixtures/small-artifact.ts";
import { tinyBert } from "../../fixtures/tiny-bert.ts";
import { compiledKernels } from "../../suites/kernels/builds.ts";
import { SeededChoice } from "../choose.ts";
import { damagedBytes } from "../damage-bytes.ts";
import { refusalCode } from "../outcome.ts";
import { type Objects, rangeStores } from "../range-stores.ts";
import type { Target } from "../target.ts";
import { workFolder } from "../work-folder.ts";

const SIZE = { maxTokens: 16, vocabulary: 2_000 };
/** Few rows are cached, so that they make room for others. */
const PAGING = { tableBits: 4, resident: 100, cached: 256 } as const;
const FILES = { model: "model.safetensors", pages: ["pages-1.bin", "pages-2.bin"] } as const;
/** Bytes of the first file with pages. A page is in both files. */
const FIRST_FILE = 20_000;

/** Time limits in ms of a store that may be late, and of one that may not. */
const [LATE_MS, PATIENT_MS] = [20, 30_000];

type Sequences = readonly TokenIds[];

/**
 * Pages of a token embedding table that arrive damaged, cut, late or not at all, from stores that ignore ranges or confuse them. A request
 * has the bits of a model with the whole table, or fails. When the damage is over, it has these bits.
 */
export const pages: Target = {
  runs: { long: 40_000, short: 60 },
  refusals: ["artifact_corrupt", "storage_unavailable"],
  async start() {
    const engine = wasmEngine({ simd: await compiledKernels("simd") });
    const { config, weights } = tinyBert({ config: { vocab_size: SIZE.vocabulary, num_hidden_layers: 1 } });
    const { file, pages, whole } = await pagedFile(await fusedGraph(config, weights), SIZE, PAGING);
    const objects: Objects = new Map([
      [FILES.model, file],
      [FILES.pages[0], pages.slice(0, FIRST_FILE)],
      [FILES.pages[1], pages.slice(FIRST_FILE)],
    ]);
    const small = await smallManifest(new Map());
    const edge = { ...small.targets.edge, engine: "wasm", ...FILES, pages: [...FILES.pages] };
    const manifest = { ...small, files: await describeFiles(objects), targets: { edge } } as typeof small;
    const ofWholeTable = await engine.load(oneModel(whole));
    const folder = workFolder();
    for (const [name, bytes] of objects) await writeFile(join(folder, name), bytes);

    /** Loads the model, sends requests at the same time while the store is damaged, and sends them again when it is mended. */
    async function ask(
      store: ObjectStore,
      requests: readonly Sequences[],
      { damage, mend }: Record<"damage" | "mend", () => unknown>,
    ): Promise<string> {
      const artifact = storedArtifact(store, { manifest, version: "", measurements });
      const files = counted(modelFilesOf(artifact, "wasm"));
      const session = await engine.load(files);
      await session.complete;
      const answer = async (sequences: Sequences) => {
        await session.ready?.(sequences);
        const found = await session.run(sequences);
        const expected = await ofWholeTable.run(sequences);
        const isEqual = found.every((output, i) => Buffer.compare(bytesOf(output), bytesOf(expected[i])) === 0);
        if (!isEqual) throw new Error("The vectors are others than those of the whole table.");
      };
      await damage();
      const outcomes = await Promise.all(requests.map((each) => answer(each).then(() => "accepted", refusalCode)));
      await mend();
      for (const each of requests) await answer(each);
      await session.release();
      return outcomes.find((outcome) => outcome !== "accepted") ?? "accepted";
    }

    return async (seed) => {
      const choice = new SeededChoice(seed);
      const requests = Array.from({ length: 1 + choice.below(3) }, () => randomSequences(choice));
      const chosen = choice.below(rangeStores.length + 1);
      if (chosen === rangeStores.length) {
        const name = choice.of(FILES.pages);
        const sound = objects.get(name) as Uint8Array<ArrayBuffer>;
        const path = join(folder, name);
        const damage = () => writeFile(path, damagedBytes(sound, choice));
        return ask(fsStore(folder), requests, { damage, mend: () => writeFile(path, sound) });
      }
      let isFaulty = false;
      const store = rangeStores[chosen]?.(objects, () => (isFaulty ? choice : undefined)) as ObjectStore;
      const timed: ObjectStore = {
        ...store,
        get timeoutMs() {
          return isFaulty ? LATE_MS : PATIENT_MS;
        },
      };
      const setFaulty = (value: boolean) => () => {
        isFaulty = value;
      };
      return ask(timed, requests, { damage: setFaulty(true), mend: setFaulty(false) });
    };
  },
};

const bytesOf = (output: Float32Array<ArrayBuffer> | undefined): Buffer =>
  Buffer.from((output as Float32Array<ArrayBuffer>).buffer);

/** A few sequences, or sequences with more rows than are cached. */
const randomSequences = (choice: SeededChoice): TokenIds[] =>
  Array.from({ length: choice.of([1, 2, 3, 40]) }, () =>
    Int32Array.from({ length: 1 + choice.below(SIZE.maxTokens) }, () => choice.below(SIZE.vocabulary)),
  );

/** Throws if too many ranges are read at the same time, or the same bytes by two of them. */
function counted(files: ReturnType<typeof modelFilesOf>): typeof files {
  const reading = new Set<readonly [begin: number, end: number]>();
  return {
    ...files,
    async readPages(target, begin, end) {
      if ([...reading].some(([from, to]) => from < end && begin < to)) throw new Error("A page is read twice.");
      const range = [begin, end] as const;
      reading.add(range);
      if (reading.size > MAX_PAGE_READS) throw new Error(`${reading.size} ranges are read at the same time.`);
      try {
        return await files.readPages(target, begin, end);
      } finally {
        reading.delete(range);
      }
    },
  };
}
