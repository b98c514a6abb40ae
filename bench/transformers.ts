/**
 * Measures a sentence encoder beside transformers.js, which is installed from a registry: one text at a time, in turns, on one
 * thread. Each engine has a process of its own. Memory is that of its process after the text; bytes are the files of the model.
 *
 *     npm run bench:transformers -- <folder with model.onnx and the files of the checkpoint>
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { sentenceEncoder } from "#sdk/artifact/manifest.ts";
import { table } from "#sdk/cli/output.ts";
import { prepare } from "#sdk/compile/commands/prepare.ts";
import { cosine } from "#sdk/runtime/tasks/sentence-vector.ts";
import { openFolder } from "#sdk/storage/folder-artifact.ts";
import { bytesOf } from "./bytes-of.ts";
import { command, WrongUsage } from "./command.ts";
import { figuresOf } from "./figures.ts";
import { median } from "./run-tool.ts";
import type { Answer } from "./transformers/child.ts";
import { type EngineName, engines, type Measured, PACKAGE, poolingNames, VERSION } from "./transformers/engines.ts";
import { installTransformers, onnxFiles } from "./transformers/install.ts";

const ROUNDS = 40;
const SHORT_ROUNDS = 1;
const WARM_UP = 3;

const words = "the cat sat on the mat and looked at the house while rain fell on the old streets of the town".split(
  " ",
);
const texts = [4, 30, 120].map((length) => Array.from({ length }, (_, i) => words[i % words.length]).join(" "));

interface Row {
  readonly words: number;
  readonly name: EngineName;
  readonly ms: number;
  readonly rssMB: number;
  readonly bytes: number;
  /** Cosine with float32. */
  readonly cosine: number;
}

await command(
  { usage: "npm run bench:transformers -- <folder>", options: {}, allowPositionals: true },
  async ({ values: { short }, positionals: [model, ...others], folder, log }) => {
    if (model === undefined || others.length > 0) throw new WrongUsage("Give the folder of one model.");
    const rounds = short ? SHORT_ROUNDS : ROUNDS;
    const float32 = await onnxFiles(model);
    const out = join(folder, "artifact");
    log.stage("prepare");
    await prepare({ model, out, name: "measured", targets: ["edge", "regional-cpu"] });
    const { pooling, normalize, targets } = sentenceEncoder((await openFolder(out)).manifest);
    if (poolingNames[pooling] === undefined) {
      throw new WrongUsage(`transformers.js has no pooling "${pooling}", so vectors of this model cannot be compared.`);
    }
    log.stage(`install ${PACKAGE}`);
    await installTransformers(folder, model, float32);

    const measured: Measured = { artifact: out, installed: folder, pooling, normalize };
    const files: Readonly<Record<EngineName, readonly string[]>> = {
      "transformers.js, float32": float32,
      "edge, WebAssembly": [join(out, targets.edge?.model ?? "")],
      "region, CPU": [join(out, targets["regional-cpu"]?.model ?? "")],
    };
    const names = Object.keys(engines) as EngineName[];
    const children = await Promise.all(names.map((name) => started(name, measured)));
    const rows: Row[] = [];
    for (const text of texts) {
      log.stage(`${text.split(" ").length} words`);
      const answers = new Map(names.map((name) => [name, [] as Answer[]]));
      for (let round = 0; round < WARM_UP + rounds; round++) {
        for (const { name, ask } of children) {
          const answer = await ask(text);
          if (round >= WARM_UP) answers.get(name)?.push(answer);
        }
      }
      const exact = answers.get("transformers.js, float32")?.at(-1)?.vector ?? [];
      for (const [name, all] of answers) {
        const { vector = [], rssMB = 0 } = all.at(-1) ?? {};
        rows.push({
          ...{ words: text.split(" ").length, name, ms: median(all.map(({ ms }) => ms)), rssMB },
          bytes: await bytesOf(files[name]),
          cosine: cosine(Float32Array.from(vector), Float32Array.from(exact)),
        });
      }
    }
    for (const { stop } of children) stop();
    return {
      figures: rows.flatMap(({ words, name, ms, rssMB, bytes, cosine }) =>
        figuresOf(`${name}, ${words} words`, {
          time: [ms, "ms"],
          memory: [rssMB, "MB"],
          model: [bytes / 1000, "KB"],
          "cosine with float32": [cosine, "agreement"],
        }),
      ),
      text: [
        `${PACKAGE} ${VERSION}, ${pooling} pooling, medians of ${rounds} rounds`,
        table(
          ["text", "engine", "median", "memory", "model", "cosine to float32"],
          rows.map(({ words, name, ms, rssMB, bytes, cosine }) => [
            ...[`${words} words`, name, `${ms.toFixed(2)} ms`, `${rssMB.toFixed(0)} MB`],
            ...[`${(bytes / 1e6).toFixed(1)} MB`, cosine.toFixed(5)],
          ]),
        ),
      ].join("\n"),
      details: { rows },
    };
  },
);

async function started(name: EngineName, measured: Measured) {
  const child = fork(join(import.meta.dirname, "transformers/child.ts"), [name, JSON.stringify(measured)]);
  const failed = once(child, "exit").then(() => Promise.reject(new Error(`The process of ${name} ended.`)));
  failed.catch(() => {});
  await Promise.race([once(child, "message"), failed]);
  return {
    name,
    async ask(text: string): Promise<Answer> {
      child.send(text);
      const [answer] = (await Promise.race([once(child, "message"), failed])) as [Answer];
      return answer;
    },
    stop: () => void child.kill(),
  };
}
