import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { joined, memoryFile, type Parts, pickled, torchFile } from "#test/fixtures/torch-file.ts";
import type { BertEdgeError } from "../../../artifact/error.ts";
import { readPickled } from "./read-pickled.ts";
import { opcodes } from "./unpickle.ts";

const { text, integer, tuple, global, dict, storage, tensor, file } = pickled;

const conversion = () => ({ command: "convert", to: undefined });

/** Reads a file with this pickle, and a storage of four bytes. Returns the error's code and message; "accepted" without one. */
function outcomeOf(...parts: Parts): string {
  const bytes = memoryFile(torchFile(joined(...parts), { 0: "1234" }));
  try {
    readPickled(bytes, "model.bin", conversion);
    return "accepted";
  } catch (error) {
    const { code, message } = error as BertEdgeError;
    return `${code}: ${message}`;
  }
}

const unneeded = (what: string): string => `checkpoint_unsupported: model.bin uses ${what}, which weights do not need.`;

/** A call of os.system that the text opcodes of protocol 0 describe. */
const COMMAND = tuple(text("touch /tmp/harmed"));

describe("globals that run code", () => {
  it.each([
    "os.system",
    "posix.system",
    "builtins.eval",
    "builtins.exec",
    "builtins.getattr",
    "__builtin__.eval",
    "subprocess.Popen",
    "importlib.import_module",
    "functools.partial",
    "operator.attrgetter",
    "pickle.loads",
    "runpy.run_path",
    "torch.hub.load",
    "torch.load",
    "torch.jit.load",
    "torch._utils._import_dotted_name",
    "torch.serialization.load",
    "numpy.core.multiarray._reconstruct",
    // Near the names that are known.
    "collections.OrderedDict.__init__",
    "torch._utils._rebuild_tensor_v2.__globals__",
    "torch.FloatStorage._new_shared_filename_cpu",
    "torch.storage.TypedStorage",
    "torch.FloatTensor",
    "torch.float32",
    "__proto__.constructor",
    ".constructor",
  ])("are refused by name: %s", (name) => {
    expect(outcomeOf(file(global(name), COMMAND, "R"))).toBe(unneeded(name));
    expect(outcomeOf(file(dict({ weight: joined(global(name), ")R") })))).toBe(unneeded(name));
  });

  it.each<[string, Parts, string]>([
    ["STACK_GLOBAL", [text("os"), text("system"), "\x93", COMMAND, "R"], "the pickle opcode STACK_GLOBAL"],
    ["INST", ["(", text("touch"), "ios\nsystem\n"], "the pickle opcode INST"],
    ["OBJ, with a known class", ["(", global("collections.OrderedDict"), "o"], "the pickle opcode OBJ"],
    ["NEWOBJ, with a known class", [global("collections.OrderedDict"), ")\x81"], "the pickle opcode NEWOBJ"],
    ["EXT1", ["\x82\x01", COMMAND, "R"], "the pickle opcode EXT1"],
    ["EXT2", ["\x83\x01\x00", COMMAND, "R"], "the pickle opcode EXT2"],
    ["EXT4", ["\x84\x01\x00\x00\x00", COMMAND, "R"], "the pickle opcode EXT4"],
    ["PERSID", ["Pos.system\n"], "the pickle opcode PERSID"],
    [
      "a chain of calls",
      [global("builtins.getattr"), tuple(global("builtins.__import__"), tuple(text("os")), "R", text("system")), "R"],
      "builtins.getattr",
    ],
    [
      "a function that is remembered",
      [global("torch._utils._rebuild_tensor_v2"), "q\x00", global("os.system"), "q\x00h\x00", COMMAND, "R"],
      "os.system",
    ],
    ["BUILD of a class", [global("nt.system"), "}b"], "nt.system"],
    ["a name with a line feed", [global("os.system").replace("system", "\rsystem"), COMMAND, "R"], "os.\\rsystem"],
  ])("are refused by name: %s", (_, parts, what) => {
    expect(outcomeOf(file(...parts))).toBe(unneeded(what));
  });

  const DAMAGED = "checkpoint_invalid: model.bin is not a valid PyTorch file: its pickle";
  it.each<[string, Parts, string]>([
    ["a call of a text", [text("os.system"), COMMAND, "R"], `${DAMAGED} calls something that is not a function.`],
    ["a call of a storage class", [global("torch.FloatStorage"), tuple(integer(4)), "R"], `${DAMAGED} calls something`],
    ["a call of a result", [global("collections.OrderedDict"), ")R", COMMAND, "R"], `${DAMAGED} calls something`],
    ["a call without arguments", [global("collections.OrderedDict"), "R"], `${DAMAGED} is damaged.`],
    [
      "an ordered dict of something",
      [global("collections.OrderedDict"), tuple(text("x")), "R"],
      `${DAMAGED} calls OrderedDict with other arguments`,
    ],
    ["attributes", ["}", dict({ __class__: text("x") }), "b"], "model.bin sets other attributes than _metadata."],
    ["attributes of a number", [integer(1), dict({ _metadata: "}" }), "b"], "adds to something that is not a dict."],
    ["an id that is not a storage", [tuple(text("module"), text("os")), "Q"], "persistent id that is not a storage."],
    [
      "a storage of an unknown class",
      [tuple(text("storage"), text("FloatStorage"), text("0"), text("cpu"), integer(1)), "Q"],
      "persistent id that is not a storage.",
    ],
    [
      "hooks",
      [
        global("torch._utils._rebuild_parameter"),
        tuple(tensor(storage("0", 1), [1], [1]), "\x89", dict({ hook: text("x") })),
        "R",
      ],
      "model.bin has a parameter with hooks.",
    ],
  ])("are not the way to do harm with known ones: %s", (_, parts, message) => {
    expect(outcomeOf(file(...parts))).toContain(message);
  });
});

describe("opcodes", () => {
  const golden = new URL("../../../../../test/golden/pickles.json", import.meta.url);
  const ofPython = JSON.parse(readFileSync(golden, "utf8")).opcodes as Readonly<Record<string, number>>;
  const known = Object.keys(opcodes);

  it("have the codes of Python", () => {
    for (const [name, code] of Object.entries(opcodes)) expect([name, ofPython[name]]).toEqual([name, code]);
  });

  it.each(Object.entries(ofPython).filter(([name]) => !known.includes(name)))(
    "are refused by name: %s",
    (name, code) => {
      expect(outcomeOf(file(String.fromCharCode(code), "\x00\n\n"))).toBe(unneeded(`the pickle opcode ${name}`));
    },
  );

  it("are refused if Python does not have them", () => {
    const all = Array.from({ length: 256 }, (_, code) => code).filter(
      (code) => !Object.values(ofPython).includes(code),
    );
    expect(all.length + Object.keys(ofPython).length).toBe(256);
    for (const code of all) {
      expect(outcomeOf(file(String.fromCharCode(code)))).toContain(`checkpoint_invalid`);
      expect(outcomeOf(file(String.fromCharCode(code)))).toContain(`its pickle has an unknown opcode ${code}.`);
    }
  });

  it("that are known are refused where they have nothing to work on", () => {
    const worksAlone = ["STOP", "PROTO", "MARK", "NONE", "NEWTRUE", "NEWFALSE", "EMPTY_TUPLE", "EMPTY_DICT"];
    for (const [name, code] of Object.entries(opcodes).filter(([name]) => !worksAlone.includes(name)))
      expect([name, outcomeOf(file(String.fromCharCode(code)))]).toEqual([
        name,
        expect.stringMatching(/^checkpoint_invalid: .*(is damaged|is cut off)\.$/),
      ]);
  });
});

describe("a pickle is refused", () => {
  const weight = tensor(storage("0", 1), [1], [1]);

  it("except if it is a dict of tensors", () => {
    expect(outcomeOf(file(dict({ weight })))).toBe("accepted");
  });

  it.each<[string, Parts, string]>([
    ["without a protocol", [dict({ weight }), "."], "its pickle names no protocol"],
    ["of another protocol", ["\x80\x05", dict({ weight }), "."], "is a pickle of protocol 5"],
    ["without an end", ["\x80\x02", dict({ weight })], "its pickle is cut off"],
    ["with bytes after its end", [file(dict({ weight })), "."], "bytes follow its pickle"],
    ["with two values", [file("}", dict({ weight }))], "its pickle is damaged"],
    ["with a mark that is open", [file("(", dict({ weight }))], "its pickle is damaged"],
    ["with a mark that is not there", [file("t")], "its pickle is damaged"],
    ["with a key without a value", [file("}(", text("a"), "u")], "its pickle is damaged"],
    ["with a key that is a number", [file("}(", integer(1), weight, "u")], "has a dict with a key that is not a text"],
    ["with a name that comes twice", [file("}(", text("a"), "N", text("a"), "Nu")], 'two values for "a"'],
    ["with a value that is not remembered", [file("h\x07")], "its pickle is damaged"],
    ["with a text that is not UTF-8", [file("X\x01\x00\x00\x00\xff")], "its pickle has a text that is not UTF-8"],
    ["with a text of 4 GB", [file("X\xff\xff\xff\xff")], "its pickle is cut off"],
    ["with a number of 255 bytes", [file("\x8a\xff", new Uint8Array(255))], "has a number above 2^53"],
    ["with a number above 2⁵³", [file("\x8a\x08", new Uint8Array(8).fill(0x7f))], "has a number above 2^53"],
    [
      "that contains itself",
      [file("}q\x00(", text("a"), "h\x00u")],
      'has a dict with the name "a" instead of a tensor',
    ],
    ["with too many opcodes", [file("N".repeat(500_000))], "its pickle has more than 500000 opcodes"],
  ])("%s", (_, parts, message) => {
    expect(outcomeOf(...parts)).toContain(message);
  });

  const UNTYPED = storage("0", 4, "torch.storage.UntypedStorage");
  const [HUGE, TOO_MANY] = [2 ** 52, Array<number>(65).fill(1)];
  it.each<[string, Uint8Array, string]>([
    ["has an entry that does not exist", tensor(storage("1", 1), [1], [1]), "it has no entry data/1"],
    ["has an entry elsewhere", tensor(storage("../byteorder", 1), [1], [1]), "it has no entry data/../byteorder"],
    ["has a larger storage than the file", tensor(storage("0", HUGE), [HUGE], [1]), "has a storage of"],
    ["has another storage than the file", tensor(storage("0", 2, "torch.HalfStorage"), [1], [1]), "accepted"],
    ["has a smaller storage than the file", tensor(storage("0", 3, "torch.ByteStorage"), [3], [1]), "has a storage of"],
    ["begins outside its storage", tensor(storage("0", 1), [1], [1], 1), "lies outside its storage"],
    ["ends outside its storage", tensor(storage("0", 1), [2], [1]), "lies outside its storage"],
    ["has strides out of its storage", tensor(storage("0", 4, "torch.ByteStorage"), [2], [4]), "outside its storage"],
    ["has a huge shape", tensor(storage("0", 1), [HUGE, HUGE, HUGE], [1, 1, 1]), "lies outside its storage"],
    ["repeats a number", tensor(storage("0", 1), [HUGE], [0]), "has an expanded tensor (weight)"],
    ["repeats nothing", tensor(storage("0", 1), [...Array<number>(30).fill(HUGE), 0], Array(31).fill(0)), "expanded"],
    ["has 65 axes", tensor(storage("0", 1), TOO_MANY, TOO_MANY), "with other arguments than PyTorch"],
    ["has a negative offset", tensor(storage("0", 1), [1], [1], -1), "with other arguments than PyTorch"],
    ["has a negative size", tensor(storage("0", 1), [-1], [1]), "with other arguments than PyTorch"],
    ["has a type beside its storage's", tensor(storage("0", 1), [1], [1], 0, "torch.uint32"), "with other arguments"],
    ["has no type", tensor(UNTYPED, [1], [1]), "with other arguments"],
    ["has a class as its type", tensor(UNTYPED, [1], [1], 0, "torch.FloatStorage"), "with other arguments"],
    ["has a type, and an untyped storage", tensor(UNTYPED, [2], [1], 0, "torch.uint16"), "accepted"],
    ["has fewer strides than axes", tensor(storage("0", 1), [1, 1], [1]), "with other arguments than PyTorch"],
    ["has a negative stride", tensor(storage("0", 1), [-1 >>> 0], [1]), "lies outside its storage"],
  ])("if a tensor %s", (_, weight, message) => {
    expect(outcomeOf(file(dict({ weight })))).toContain(message);
  });

  it("if tensors overlap, and together are larger than the file", () => {
    const bytes = new Uint8Array(5000);
    const overlapping = Array.from({ length: 9 }, (_, i) => [
      `weight.${i}`,
      tensor(storage("0", bytes.length, "torch.ByteStorage"), [4000], [1], i),
    ]);
    const content = torchFile(file(dict(Object.fromEntries(overlapping))), { 0: bytes });
    expect(() => readPickled(memoryFile(content), "model.bin", conversion)).toThrow("has tensors that overlap");
  });
});
