// Writes an artifact of a BERT-base with random weights of 4 bits, and its token embedding table in pages. `prepare --weights int4` calibrates
// each layer, which takes half an hour at this size. Here, weights are rounded without calibration: the file has the same size.
import { appendFile, mkdtempDisposable, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { comparedAs, parity } from "#sdk/compile/accuracy/parity.ts";
import { probeTexts } from "#sdk/compile/accuracy/probe-texts.ts";
import { assembleArtifact, type PackedTarget } from "#sdk/compile/stages/assemble-artifact.ts";
import { openSubject } from "../../bench/engine/subject.ts";
import { computed } from "../../bench/engine/workerd/publish-form.ts";
import { writeRandomBert } from "../../bench/random-checkpoint.ts";
import { commandLine } from "../commands/command-line.ts";

const NAME = "random-base";
/** Random weights have no accuracy to measure. The manifest must have a number. */
const texts = probeTexts.slice(0, 4);
/** Targets of the artifact. The region's weights have 8 bits. */
const targets = [
  {
    name: "edge",
    engine: "wasm",
    precision: "int8-edge",
    form: "wasm, int4 in groups of 32, in each call, in pages",
  },
  { name: "regional-cpu", engine: "ort-node", precision: "int8", form: "int8" },
] as const;

const { positionals, refuse } = commandLine(
  `npm run soak:model -- <folder>
Writes an artifact of a BERT-base with random weights of 4 bits, and its token embedding table in pages. The folder must not exist.`,
  {},
  { allowPositionals: true },
);
const [out, ...others] = positionals;
if (out === undefined || others.length > 0) refuse("Give one folder.");
else await writeLargeModel(out);

async function writeLargeModel(out: string): Promise<void> {
  await using folder = await mkdtempDisposable(join(tmpdir(), "bert-edge-large-"));
  const subject = await openSubject(await writeRandomBert(folder.path, { layers: 12, width: 768 }, NAME));
  const { model } = subject;
  const exact = await computed(subject, "fp32", "ort-node", texts);
  const packed: PackedTarget[] = [];
  for (const { name, engine, precision, form } of targets) {
    const { file, pages } = await subject.encoded(form);
    const path = join(folder.path, name);
    await writeFile(path, file);
    if (pages) await appendFile(path, pages);
    const found = await computed(subject, form, engine, texts);
    packed.push({
      ...{ name, path, modelBytes: file.length, extension: engine === "wasm" ? "safetensors" : "onnx" },
      target: { engine, precision, parity: parity(exact, found, comparedAs(model.task, model.config.vocabularySize)) },
    });
  }
  await assembleArtifact(out, { name: NAME, model, packed, golden: undefined, draft: true });
}
