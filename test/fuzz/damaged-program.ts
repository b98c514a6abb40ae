import { withHeader } from "../fixtures/safetensors-file.ts";
import { SeededChoice } from "./choose.ts";
import { at, type Change, damagedJson, type Json } from "./damage-json.ts";
import { jsonText } from "./damaged-json-text.ts";

type File = Uint8Array<ArrayBuffer>;

/** Names of operators, types and options of programs. */
const WORDS = ["token", "sequence", "f32", "i8", "lookup", "attention", "cls", "mean", "linearF32", "relu", "swish"];

const changes: readonly Change[] = [
  // Moves or repeats a step.
  (document, choice) => {
    const steps = at(document, ["root", "program", "steps"]);
    if (!Array.isArray(steps) || steps.length === 0) return;
    const [from, to] = [choice.below(steps.length), choice.below(steps.length)];
    const [step] = choice.below(2) ? steps.splice(from, 1) : [structuredClone(steps[from] as Json)];
    steps.splice(to, 0, step as Json);
  },
  // Writes another known word into a step.
  (document, choice) => {
    const steps = at(document, ["root", "program", "steps"]);
    const step = Array.isArray(steps) && steps.length > 0 ? choice.of(steps) : undefined;
    if (typeof step === "object" && step !== null)
      Object.assign(step, { [choice.of(Object.keys(step))]: choice.of(WORDS) });
  },
];

/** Returns a copy of a model file with one to three changes to its program or its list of tensors. */
export function damagedProgram(sound: File, seed: number): File {
  const choice = new SeededChoice(seed);
  const { __metadata__, ...tensors } = headerOf(sound);
  const document = { program: JSON.parse(__metadata__.program), ...(choice.below(4) === 0 && { tensors }) } as Json;
  const damaged = Object(damagedJson(document, choice, changes)) as Record<string, Json>;
  const { program, tensors: changed = tensors } = damaged;
  const header = { ...Object(changed), __metadata__: { program: jsonText(program ?? null, choice) } };
  return withHeader(JSON.stringify(header), sound.subarray(headerEnd(sound)));
}

const headerEnd = (file: File) => 8 + Number(new DataView(file.buffer).getBigUint64(0, true));
const headerOf = (file: File) =>
  JSON.parse(Buffer.from(file.subarray(8, headerEnd(file))).toString()) as { __metadata__: { program: string } };
