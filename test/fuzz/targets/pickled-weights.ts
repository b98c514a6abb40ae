import { readFileSync } from "node:fs";
import { readPickled } from "#sdk/compile/checkpoint/pickled/read-pickled.ts";
import { joined, memoryFile, pickled, torchFile } from "../../fixtures/torch-file.ts";
import { SeededChoice } from "../choose.ts";
import { damagedBytes } from "../damage-bytes.ts";
import { outcome } from "../outcome.ts";
import type { Target } from "../target.ts";

const NAMES = ["state-dict", "parameters", "types", "views", "other-zip", "torchscript", "before-1.6"];
const GLOBALS = [
  "os.system",
  "builtins.eval",
  "torch.hub.load",
  "collections.OrderedDict",
  "torch._utils._rebuild_tensor_v2",
  "torch._utils._rebuild_tensor_v3",
  "torch._utils._rebuild_parameter",
  "torch.storage.UntypedStorage",
  "torch.uint16",
];
const TYPES = ["Float", "Half", "Long", "Byte", "Bool"].map((type) => `torch.${type}Storage`);
/** Opcodes and their arguments. Many of them break a pickle wherever they stand. */
const FRAGMENTS = [
  "(",
  ")",
  ".",
  "N",
  "R",
  "b",
  "s",
  "t",
  "u",
  "}",
  "Q",
  "0",
  "o",
  "\x81",
  "\x85",
  "\x93",
  "q\x00",
  "h\x00",
];
const BYTES = 256;

/** Files of `torch.save`. Every tensor that is accepted is read. */
export const pickledWeights: Target = {
  runs: { long: 200_000, short: 500 },
  refusals: ["checkpoint_invalid", "checkpoint_unsupported"],
  async start() {
    const folder = new URL("../../golden/pickles/", import.meta.url);
    const sound = NAMES.map((name) => readFileSync(new URL(`${name}.bin`, folder)));
    return (seed) => {
      const choice = new SeededChoice(seed);
      const file = memoryFile(choice.below(3) ? described(choice) : damagedBytes(choice.of(sound), choice));
      return outcome(() => {
        const tensors = readPickled(file, "fuzzed", () => ({ command: "convert", to: undefined }));
        const bytes = new Set(tensors.values()).values().reduce((sum, { data }) => sum + data.length, 0);
        if (bytes > file.length) throw new Error(`A file of ${file.length} bytes became ${bytes} bytes of tensors.`);
      });
    };
  },
};

/** Writes a file whose pickle may lie about its tensors, and may be damaged. */
function described(choice: SeededChoice): Uint8Array<ArrayBuffer> {
  const count = 1 + choice.below(3);
  const entries = Array.from({ length: count }, (_, i) => [`weight.${i}`, tensorOf(choice)] as const);
  let pickle = pickled.file(pickled.dict(Object.fromEntries(entries)));
  const damage = choice.below(4);
  if (damage === 0) pickle = damagedBytes(pickle, choice);
  if (damage === 1) {
    const at = choice.below(pickle.length);
    const added = choice.below(2) ? choice.of(FRAGMENTS) : pickled.global(choice.of(GLOBALS));
    pickle = joined(pickle.subarray(0, at), added, pickle.subarray(at + choice.below(2)));
  }
  return torchFile(pickle, { 0: new Uint8Array(BYTES), 1: new Uint8Array(4) }, { isZip64: choice.below(2) === 0 });
}

/** Describes a tensor. Some of its numbers do not fit its storage. */
function tensorOf(choice: SeededChoice): Uint8Array {
  const number = (sound: number) => (choice.below(12) ? sound : Number(choice.number()));
  const rank = choice.below(4);
  const axes = (sound: () => number) => Array.from({ length: rank }, () => number(sound()));
  const type = choice.below(12) ? choice.of(TYPES.slice(0, 1)) : choice.of(TYPES);
  const storage = pickled.storage(choice.below(12) ? "0" : choice.of(["1", "2", "../x"]), number(BYTES / 4), type);
  return pickled.tensor(
    storage,
    axes(() => choice.below(4)),
    axes(() => choice.below(6)),
    number(choice.below(8)),
  );
}
