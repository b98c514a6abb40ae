import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { wholeReads } from "./whole-reads.ts";

const root = join(import.meta.dirname, "../..");

/** Reads without a limit of their own, by file and name, with the reason why none is needed. */
const OWN_METHOD = "a method of our own, which reads nothing: it counts, or returns memory";
const OWN_PACKAGE = "a file of this package";
const OWN_OUTPUT = "a file that this process has just written";
const LIMITED_BODY = "middleware/in-flight.ts has compared the size of the body, or has counted it";
const OWN_SERVER = "the deployment that the user gives texts and a key to";
const allowed: Readonly<Record<string, string>> = {
  // The limits themselves.
  "sdk/src/compile/files/whole-file.ts Buffer.concat": "the pieces are counted before",
  "sdk/src/storage/read-object.ts .arrayBuffer()": "the pieces are counted before",
  "sdk/src/storage/s3-bounds.ts Buffer.concat": "the pieces are counted before",
  "sdk/src/serve/middleware/body.ts .text()": LIMITED_BODY,
  "sdk/src/serve/middleware/in-flight.ts .text()": LIMITED_BODY,
  "sdk/src/serve/on-error.ts .text()": LIMITED_BODY,
  // Files and servers that we trust.
  "sdk/page/connection.ts .json()": OWN_SERVER,
  "sdk/src/client/request.ts .text()": OWN_SERVER,
  "sdk/src/cli/deploy/run-tool.ts node:stream/consumers": "what a tool of the project prints within its time limit",
  "sdk/src/cli/program.ts readFileSync": OWN_PACKAGE,
  "sdk/src/local/engines.ts readFile": OWN_PACKAGE,
  "sdk/src/compile/commands/prepare.ts readFile": OWN_OUTPUT,
  "sdk/src/compile/files/output-file.ts readFile": OWN_OUTPUT,
  "sdk/src/compile/stages/assemble-artifact.ts readFile": OWN_OUTPUT,
  "sdk/src/compile/stages/engine-file.ts readFile": OWN_OUTPUT,
  "sdk/src/compile/stages/make-target.ts readFile": OWN_OUTPUT,
  // Methods that read nothing.
  "sdk/src/artifact/fill.ts .bytes()": OWN_METHOD,
  "sdk/src/cli/batch/hashed-file.ts .bytes()": OWN_METHOD,
  "sdk/src/cli/batch/read-chunks.ts .bytes()": OWN_METHOD,
  "sdk/src/compile/proto/decode-model.ts .bytes()": OWN_METHOD,
  "sdk/src/compile/proto/protobuf-reader.ts .bytes()": OWN_METHOD,
  "sdk/src/compile/stages/engine-file.ts .bytes()": OWN_METHOD,
  "sdk/src/runtime/engine/engine.ts .bytes()": OWN_METHOD,
  "sdk/src/serve/answering/task-service.ts .bytes()": OWN_METHOD,
  "sdk/src/runtime/models/model-memory.ts .bytes()": OWN_METHOD,
};

it("finds reads of whole files, bodies and streams", () => {
  const found = (text: string) => wholeReads("a.ts", text);
  expect(found("const a = await new Response(stream).text(); const b = (await fetch(u))?.json();")).toEqual([
    ".json()",
    ".text()",
  ]);
  expect(found('import { readFile as read } from "node:fs/promises"; read("a");')).toEqual(["readFile"]);
  expect(found('import * as fs from "node:fs"; const { readFileSync } = fs; handle["readFile"]();')).toEqual([
    "readFile",
    "readFileSync",
  ]);
  expect(found('import { text } from "node:stream/consumers";')).toEqual(["node:stream/consumers"]);
  expect(found('await import("node:stream/consumers");')).toEqual(["node:stream/consumers"]);
  expect(found("Buffer.concat(pieces); await Array.fromAsync(stream);")).toEqual(["Array.fromAsync", "Buffer.concat"]);
  expect(found('// response.text()\nconst a = "response.text()"; read.text(3); boundedText(response, 9);')).toEqual([]);
});

it("there is no read of a whole file, body or stream without a limit, except where none is needed", () => {
  const files = globSync(["sdk/src/**/*.ts", "sdk/page/**/*.ts", "functions/**/*.ts"], { cwd: root })
    .filter((path) => !/\.test(-d)?\.ts$/.test(path) && !path.includes("/assembly/"))
    .sort();
  const reads = files.flatMap((path) =>
    wholeReads(path, readFileSync(join(root, path), "utf8")).map((name) => `${path} ${name}`),
  );
  expect(reads.filter((read) => allowed[read] === undefined)).toEqual([]);
  // A reason for a read that is gone would allow a new one.
  expect(Object.keys(allowed).filter((read) => !reads.includes(read))).toEqual([]);
  expect(files.length).toBeGreaterThan(500);
});
