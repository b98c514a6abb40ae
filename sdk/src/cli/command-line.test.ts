import { cp, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { writeFiles } from "#test/fixtures/folder-with.ts";
import { hubServer } from "#test/fixtures/hub-server.ts";
import { preparedTiny } from "#test/fixtures/prepared-tiny.ts";
import { runCommandLine } from "#test/fixtures/run-command-line.ts";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import { writePreparableCheckpoint } from "#test/fixtures/tiny-bert.ts";

let folder: string;
let checkpoint: string;
/** The checkpoint with the files of sentence-transformers. */
let pooled: string;
let artifact: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "bert-edge-cli-"));
  checkpoint = join(folder, "checkpoint");
  await writePreparableCheckpoint(checkpoint);
  pooled = join(folder, "pooled");
  await cp(checkpoint, pooled, { recursive: true });
  const module = (kind: string, path: string) => ({ path, type: `sentence_transformers.models.${kind}` });
  await writeFiles(pooled, {
    "modules.json": [module("Transformer", ""), module("Pooling", "1_Pooling"), module("Normalize", "2_Normalize")],
    "1_Pooling/config.json": { pooling_mode_cls_token: true },
  });
  artifact = await preparedTiny();
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe("wrong usage", () => {
  it.each([
    ["no command", []],
    ["an unknown command", ["surgeon"]],
    ["an unknown error code", ["explain", "input_bad"]],
    ["an unknown shell", ["completion", "tcsh"]],
    ["an unknown option", ["--frobnicate"]],
    ["an unknown option of a command", ["prepare", "x", "--out", "y", "--frobnicate"]],
    ["a missing argument", ["embed"]],
    ["too many arguments", ["embed", "a", "b"]],
    ["a missing option", ["prepare", "x"]],
    ["an option without its value", ["prepare", "x", "--out"]],
    ["an unknown pooling", ["prepare", "x", "--out", "y", "--pooling", "sum"]],
    ["an unknown target", ["prepare", "x", "--out", "y", "--targets", "edge,moon"]],
    ["an unknown engine", ["embed", "x", "--engine", "moon"]],
    ["an unknown engine in a list", ["bench", "x", "--engines", "ort-web,moon"]],
    ["lengths that are not numbers", ["bench", "x", "--tokens", "8,many"]],
    ["no rounds", ["bench", "x", "--rounds", "0"]],
    ["an unknown mode", ["quantize", "x", "y.onnx", "--mode", "int2"]],
    ["no mode", ["quantize", "x", "y.onnx"]],
    [
      "calibration without a tokenizer",
      ["quantize", "x", "y.onnx", "--mode", "fp16", "--calibration", import.meta.filename],
    ],
    ["calibration on a missing file", ["prepare", "x", "--out", "y", "--calibration", "nowhere.txt"]],
    [
      "calibration on an empty file",
      ["quantize", "x", "y", "--mode", "fp16", "--tokenizer", "x", "--calibration", "/dev/null"],
    ],
    ["a cosine above 1", ["prepare", "x", "--out", "y", "--min-cosine", "1.5"]],
    ["a bucket that is not an s3 URL", ["publish", "x", "--to", "https://bucket"]],
    ["a deployment that is not a URL", ["check", "bert.example.workers.dev", "--model", "x"]],
    ["a deployment without a model", ["check", "https://bert.example.workers.dev"]],
    ["a deployment without secrets", ["deploy", "--model", "x"]],
    ["a port above 65535", ["dev", "models/default", "--port", "99999"]],
    ["promote without a version", ["promote", "tiny", "--store", "folder:x"]],
    ["gc of things without age", ["gc", "--store", "folder:x", "--older-than", "0"]],
    ["list without a place", ["list"]],
    ["a batch without a file for its results", ["batch", "x", "-"]],
  ])("exits with 2, the reason on stderr and nothing on stdout: %s", async (_, args) => {
    const { code, stdout, stderr } = await runCommandLine(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(/^Error usage_invalid: .+\n {2}.*See `npx bert-edge.* --help`\.$|^Usage: bert-edge/m);
    expect(stderr).not.toContain("    at ");
  });

  it.each([
    ["a missing option", ["list"], "The option --store <place> is missing."],
    [
      "too many arguments",
      ["models", "one", "extra"],
      "There are too many arguments: one, extra. The command takes 1.",
    ],
    ["a value that is not a URL", ["check", "URL", "--model", "x"], "<url> cannot be URL."],
    ["an unknown code", ["explain", "nope"], "<code> cannot be nope."],
    ["an option of a nested command", ["keys", "new", "--bogus"], "There is no option --bogus."],
    ["a combination", ["quantize", "x", "y", "--mode", "fp16", "--table", "int4"], "--table and --feed-forward have"],
  ])("is one JSON document on stdout with --json: %s", async (_, args, message) => {
    const { code, stdout } = await runCommandLine([...args, "--json"]);
    expect(code).toBe(2);
    expect(JSON.parse(stdout)).toEqual({
      error: {
        code: "usage_invalid",
        message: expect.stringContaining(message),
        hint: expect.stringContaining("--help"),
      },
    });
  });

  it("prints no JSON for a --json that is an argument", async () => {
    expect(await runCommandLine(["embed", "a", "--", "--json"])).toMatchObject({ code: 2, stdout: "" });
    expect(await runCommandLine(["embed", "--json", "--", "a", "b"])).toMatchObject({
      code: 2,
      stdout: expect.stringContaining("usage_invalid"),
    });
  });
});

describe("asking for help", () => {
  it.each([[["--help"]], [["help"]], [["prepare", "--help"]], [["--version"]]])(
    "exits with 0 and answers on stdout: %j",
    async (args) => {
      const { code, stdout, stderr } = await runCommandLine(args);
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      expect(stdout).not.toBe("");
    },
  );
});

describe("work that fails", () => {
  const nowhere = join(tmpdir(), "bert-edge-nowhere");

  it.each([
    ["onnx_missing", ["inspect", nowhere]],
    ["service_failed", ["inspect", "HTTP://127.0.0.1:1", "--json"]],
    ["checkpoint_missing", ["prepare", nowhere, "--out", join(nowhere, "out"), "--json"]],
    ["artifact_missing", ["embed", nowhere]],
    ["setting_invalid", ["check", "http://127.0.0.1:1", "--model", nowhere]],
    ["setting_invalid", ["check", "http://127.0.0.1:1", "--model", nowhere, "--key-file", nowhere]],
    ["artifact_missing", ["bench", nowhere, "--json"]],
    ["artifact_missing", ["publish", nowhere, "--to", "s3://bucket", "--json"]],
  ])("exits with 1, %s with a hint on stderr, and on stdout only with --json: %j", async (error, args) => {
    const { code, stdout, stderr } = await runCommandLine(args);
    const json = expect.stringMatching(new RegExp(`^\\{\n {2}"error": \\{\n {4}"code": "${error}",`));
    expect({ code, stdout }).toEqual({ code: 1, stdout: args.includes("--json") ? json : "" });
    expect(stderr).toMatch(new RegExp(`^Error ${error}: .+\n {2}\\S`, "m"));
    expect(stderr).not.toContain("    at ");
  });

  it("exits with 1 for an invalid model name, before it reads anything", async () => {
    const { code, stdout, stderr } = await runCommandLine(["prepare", nowhere, "--out", nowhere, "--name", "No Name"]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain("Error name_invalid");
  });

  it("does not touch an output folder that is not an artifact", async () => {
    const before = await readdir(checkpoint);
    const args = ["prepare", checkpoint, "--out", checkpoint, "--targets", "edge"];
    const { code, stdout, stderr } = await runCommandLine(args);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain("Error out_occupied");
    expect(await readdir(checkpoint)).toEqual(before);
  });

  const none = "/dev/null/none";
  const fresh = () => join(folder, "fresh");
  it.each<[code: string, words: string, args: () => string[]]>([
    ["out_unwritable", "/dev/null cannot be written to", () => ["prepare", checkpoint, "--out", none]],
    ["out_unwritable", "/dev/null cannot be written to", () => ["optimize", checkpoint, `${none}.onnx`]],
    ["out_unwritable", "/dev/null cannot be", () => ["quantize", checkpoint, `${none}.onnx`, "--mode", "fp16"]],
    ["out_unwritable", "/dev/null cannot be written to", () => ["publish", artifact, "--to", `assets:${none}`]],
    ["data_missing", nowhere, () => ["prepare", checkpoint, "--out", fresh(), "--sts", nowhere]],
    ["data_missing", nowhere, () => ["verify", artifact, "--sts", nowhere]],
    ["data_invalid", "line 1", () => ["prepare", checkpoint, "--out", fresh(), "--sts", import.meta.filename]],
    ["data_unsuitable", "--sts", () => ["prepare", checkpoint, "--out", fresh(), "--labelled", nowhere]],
    [
      "setting_invalid",
      "--pooling max --no-normalize contradicts",
      () => ["prepare", pooled, "--out", fresh(), "--pooling", "max", "--no-normalize"],
    ],
    [
      "checkpoint_missing",
      join(nowhere, "tokenizer.json"),
      () => ["quantize", checkpoint, fresh(), "--mode", "fp16", "--tokenizer", nowhere],
    ],
    ["checkpoint_missing", "https://huggingface.co/sdk/model", () => ["prepare", "sdk/model", "--out", fresh()]],
    ["artifact_missing", "bert-edge prepare org/model --out", () => ["embed", "org/model"]],
  ])("exits with %s before the first stage, and says: %s", async (error, words, args) => {
    const { code, stdout, stderr } = await runCommandLine(args());
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain(`Error ${error}: `);
    expect(stderr).toContain(words);
    expect(stderr).not.toMatch(/✓|^ {4}at /m);
  });

  it.each([
    ["prepare", () => ["prepare", "org/model", "--out", fresh()]],
    ["prepare, a name of the catalogue", () => ["prepare", "bge-small-en-v1.5", "--out", fresh()]],
    ["optimize", () => ["optimize", "org/model", fresh()]],
    ["quantize", () => ["quantize", "org/model", fresh(), "--mode", "fp16"]],
  ])("exits with 1 when the Hub does not have the model: %s", async (_, args) => {
    const { endpoint } = await hubServer({});
    const env = {
      HF_ENDPOINT: endpoint,
      HF_HUB_CACHE: await temporaryFolder(),
      HF_TOKEN: "",
      HF_HUB_DISABLE_IMPLICIT_TOKEN: "1",
    };
    const { code, stdout, stderr } = await runCommandLine(args(), { env });
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    const name = args()[1] === "bge-small-en-v1.5" ? "BAAI/bge-small-en-v1.5" : "org/model";
    expect(stderr).toContain(`Error hub_model_missing: There is no model ${name} on 127.0.0.1`);
  });
});
