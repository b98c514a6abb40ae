import { withHeader } from "../fixtures/safetensors-file.ts";
import { SeededChoice } from "./choose.ts";
import { at, type Change, damagedJson, type Json } from "./damage-json.ts";
import { jsonText } from "./damaged-json-text.ts";

type File = Uint8Array<ArrayBuffer>;

/** Token ids that no program can have, or that lists of tokens often have twice. */
const IDS = [0, 1, 49, 50, 51, 1_000_000, -1, -50, 2 ** 31 - 1, -(2 ** 31)];

/** Names of operators, types and options of programs. */
const WORDS = [
  "token",
  "sequence",
  "f32",
  "i8",
  "lookup",
  "attention",
  "cls",
  "mean",
  "linearF32",
  "relu",
  "swish",
  "linearInt8",
  "each call",
];

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
  // Gives a linear layer another size of groups, or the weight of another layer.
  (document, choice) => {
    const steps = at(document, ["root", "program", "steps"]);
    const layers = (Array.isArray(steps) ? steps : []).filter((step) => at(step, ["op"]) === "linearInt8");
    const layer = choice.of(layers);
    if (choice.below(2)) Object.assign(Object(layer), { group: choice.of([16, 32, 8, null]) });
    else Object.assign(Object(layer), { weight: at(choice.of(layers), ["weight"]) });
  },
  // Changes when weights of 4 bits are expanded.
  (document, choice) => {
    Object.assign(Object(at(document, ["root", "program"])), { expands: choice.of(["once", "each call", null]) });
  },
  // Gives a table in pages another number of rows in memory, of cached rows or of rows of a page, or the fields of another step.
  (document, choice) => {
    const steps = at(document, ["root", "program", "steps"]);
    const tables = (Array.isArray(steps) ? steps : []).filter((step) => at(step, ["pages"]) !== undefined);
    const pages = Object(at(choice.of(tables), ["pages"]));
    const name = choice.of(["resident", "cached", "rows", "frequent", "hashes"]);
    const size = choice.of([1, 2, 8, 16, 30, 48, 49, 50, 63, 65, 300, 2 ** 20]);
    const list = pages[name];
    if (Array.isArray(list) && list.length > 0 && choice.below(4))
      list[choice.below(list.length)] = choice.of([...IDS, "a", list[0] as Json]);
    else Object.assign(pages, { [name]: typeof list === "number" ? size : choice.of([pages["hashes"], null]) });
  },
  // Moves a tensor to another place in the file. All tensors keep their sizes.
  (document, choice) => {
    const tensors = Object.values(Object(at(document, ["root", "tensors"])) as Record<string, Json>);
    // Another change may have damaged the range.
    const rangeOf = (tensor: Json) => [0, 1].map((i) => Number(at(tensor, ["data_offsets", i]))) as [number, number];
    const ordered = tensors.sort((a, b) => rangeOf(a)[0] - rangeOf(b)[0]);
    const moved = choice.of(ordered);
    const others = ordered.filter((tensor) => tensor !== moved);
    let begin = 0;
    for (const tensor of others.toSpliced(choice.below(ordered.length), 0, moved)) {
      const [from, to] = rangeOf(tensor);
      Object.assign(Object(tensor), { data_offsets: [begin, begin + to - from] });
      begin += to - from;
    }
  },
];

/** Returns a copy of a model file with one to three changes to its program or its list of tensors. */
export function damagedProgram(sound: File, seed: number): File {
  const choice = new SeededChoice(seed);
  const soundHeader = headerOf(sound);
  const { __metadata__, ...tensors } = soundHeader;
  const data = sound.slice(headerEnd(sound));
  const document = { program: JSON.parse(__metadata__.program), ...(choice.below(4) === 0 && { tensors }) } as Json;
  const damaged = Object(damagedJson(document, choice, changes)) as Record<string, Json>;
  const { program, tensors: changed = tensors } = damaged;
  const header = { ...Object(changed), __metadata__: { program: jsonText(program ?? null, choice) } };
  return withHeader(JSON.stringify(header), data);
}

const headerEnd = (file: File) => 8 + Number(new DataView(file.buffer).getBigUint64(0, true));
const headerOf = (file: File) =>
  JSON.parse(Buffer.from(file.subarray(8, headerEnd(file))).toString()) as { __metadata__: { program: string } };
