import type { GoldenTexts, Manifest } from "../../artifact/manifest.ts";
import { oneByOne } from "../../runtime/engine/batching.ts";
import type { EngineSession } from "../../runtime/engine/engine.ts";
import { modelOf } from "../../runtime/start-model.ts";
import { loadTokenizer } from "../../runtime/tokenizer/load-tokenizer.ts";
import {
  belowLimit,
  chosenLimit,
  compareLines,
  FLOAT32_GOLDEN,
  type GoldenAgreement,
  summaryOf,
} from "../accuracy/golden/compare-lines.ts";
import { findReading } from "../accuracy/golden/find-reading.ts";
import { readInput } from "../accuracy/golden/golden-call.ts";
import { type GoldenGaps, goldenGaps, goldenMismatch } from "../accuracy/golden/golden-remarks.ts";
import type { GoldenLine } from "../accuracy/golden/read-golden.ts";
import { chosenGolden } from "../accuracy/golden-texts.ts";
import { maxTokensOf } from "../checkpoint/encoder-config.ts";
import { exactGraph } from "../evaluate/exact-graph.ts";
import type { TextModel } from "../model/text-model.ts";
import { graphFile, type LoadedModel, withSession } from "./engine-file.ts";
import type { Stage } from "./stage.ts";

interface CheckGoldenInput {
  readonly model: TextModel;
  /** The manifest of the artifact, without targets. */
  readonly manifest: Manifest;
  /** Path of the model, for messages. */
  readonly folder: string;
  /** Path of the golden file. */
  readonly file: string;
  readonly lines: readonly GoldenLine[];
  /** Minimum agreement of each line. Default: `FLOAT32_GOLDEN`, the agreement of two libraries that compute in float32. */
  readonly minimum: number | undefined;
}

/** Agreement of the float32 model with a golden file. */
export interface CheckedGolden {
  readonly agreement: GoldenAgreement;
  readonly gaps: GoldenGaps;
  /** Golden texts of the artifact, with the vectors of the float32 model; undefined for other tasks than `embed`. */
  readonly texts: GoldenTexts | undefined;
}

/**
 * Compares the unfused float32 graph with the answers of the user's present system. Encodes and runs the texts as a request does.
 *
 * @throws BertEdgeError `golden_mismatch`; the message names the worst line, and another reading of the folder that fits the file, if any
 */
export const checkGolden: Stage<CheckGoldenInput, CheckedGolden> = {
  name: "check",
  describe: ({ file }) => `compare with ${file}`,
  async run({ model, manifest, folder, file, lines, minimum }, context) {
    const path = await graphFile(await exactGraph(model.graph), context.folder);
    const tokenizer = await loadTokenizer(manifest, readOf(model));
    const unfused = { path, engine: "ort-node", optimize: false } as const;
    return withSession(unfused, { signal: context.signal }, async (loaded) => {
      const session = sessionOf(loaded);
      const artifact = { manifest, version: "float32", measurements: {}, read: readOf(model) };
      const own = modelOf(artifact, tokenizer, session);
      const progress = (share: number) => context.progress(`compare with ${file}`, share);
      const compared = await compareLines(own, lines, { progress });
      const limit = chosenLimit(minimum, FLOAT32_GOLDEN);
      const failed = belowLimit(compared, limit);
      if (failed.length > 0) {
        context.progress("look for another reading that fits");
        const search = { model: own, session, limit, positions: maxTokensOf(model.config), compared };
        throw goldenMismatch({ file, folder, lines: lines.length, limit }, failed, await findReading(search));
      }
      const isCut = (line: GoldenLine) => readInput(line, own).isCut;
      return {
        agreement: summaryOf(file, compared),
        gaps: goldenGaps(file, lines, manifest, isCut),
        texts: chosenGolden(compared, own),
      };
    });
  },
  report: ({ agreement: { lines, mean, worst } }) => ({ lines, mean, worst: worst.agreement }),
};

const readOf =
  ({ tokenizer }: TextModel) =>
  async (file: string): Promise<Uint8Array<ArrayBuffer>> =>
    tokenizer.files.get(file) as Uint8Array<ArrayBuffer>;

/** Makes an engine session from a loaded model. `release` does nothing, because `withSession` releases the model. */
const sessionOf = ({ run }: LoadedModel): EngineSession => ({
  run,
  provider: "cpu",
  target: "regional-cpu",
  batches: oneByOne,
  memoryBytes: () => undefined,
  release: async () => {},
});
