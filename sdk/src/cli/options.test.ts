import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { InvalidArgumentError } from "commander";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { writtenCase } from "#test/fixtures/checked-golden.ts";
import { quick } from "#test/fixtures/preparable.ts";
import { prepared } from "#test/fixtures/prepared.ts";
import { runCommandLine } from "#test/fixtures/run-command-line.ts";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import {
  byteCount,
  listOf,
  port,
  positiveInteger,
  positiveIntegers,
  publishPlace,
  share,
  textLines,
} from "./options.ts";

const engines = listOf(["ort-web", "ort-node"]);

describe("listOf", () => {
  it("accepts known words, with white space around them", () => {
    expect(engines("ort-node")).toEqual(["ort-node"]);
    expect(engines("ort-web, ort-node")).toEqual(["ort-web", "ort-node"]);
  });

  it.each(["", "wasm", "ort-web,", "ort-web,ort", "ORT-WEB", "toString"])(
    "refuses %j and lists the known words",
    (value) => {
      expect(() => engines(value)).toThrow(InvalidArgumentError);
      expect(() => engines(value)).toThrow("ort-web, ort-node");
    },
  );
});

describe("positiveInteger", () => {
  it("accepts every positive safe integer", () => {
    expect(positiveInteger("1")).toBe(1);
    fc.assert(
      fc.property(fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }), (n) => {
        expect(positiveInteger(String(n))).toBe(n);
      }),
    );
  });

  it.each(["0", "-1", "1.5", "", "x", "1x", "NaN", "Infinity", "9007199254740993"])("refuses %j", (value) => {
    expect(() => positiveInteger(value)).toThrow(InvalidArgumentError);
  });
});

describe("byteCount", () => {
  it.each([
    ["13500000", 13_500_000],
    ["13.5MB", 13_500_000],
    ["64 MiB", 67_108_864],
    ["70mb", 70_000_000],
    ["1.5KiB", 1_536],
    ["2GB", 2_000_000_000],
  ])("reads %s", (text, bytes) => {
    expect(byteCount(text)).toBe(bytes);
  });

  it.each(["", "MB", "0", "0.1", "-5MB", "5 M", "5TB", "1e6", "5MB5", "NaN", "Infinity", "9999999999GB"])(
    "refuses %j",
    (text) => {
      expect(() => byteCount(text)).toThrow("13.5MB or 64MiB");
    },
  );
});

describe("positiveIntegers", () => {
  it("accepts a list, and refuses a list with one wrong number", () => {
    expect(positiveIntegers("8,16,256")).toEqual([8, 16, 256]);
    expect(() => positiveIntegers("8,,16")).toThrow(InvalidArgumentError);
  });
});

describe("port", () => {
  it.each(["1", "8787", "65535"])("accepts %j", (value) => {
    expect(port(value)).toBe(Number(value));
  });

  it.each(["0", "65536", "99999", "http"])("refuses %j", (value) => {
    expect(() => port(value)).toThrow(InvalidArgumentError);
  });
});

describe("share", () => {
  it.each(["0", "1", "0.998", "1e-3"])("accepts %j", (value) => {
    expect(share(value)).toBe(Number(value));
  });

  it.each(["", " ", "-0.1", "1.1", "NaN", "Infinity", "x", "0,9"])("refuses %j", (value) => {
    expect(() => share(value)).toThrow(InvalidArgumentError);
  });
});

describe("textLines", () => {
  it("returns the lines of a file that are not empty, for all kinds of line breaks", async () => {
    const path = join(await temporaryFolder(), "lines.txt");
    await writeFile(path, "to be\r\n\n  \nor not \n");
    expect(textLines(path)).toEqual(["to be", "or not "]);
  });

  it("refuses a file without lines, a folder and a missing file", async () => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, "empty"), "\n \r\n");
    await mkdir(join(folder, "folder"));
    for (const name of ["empty", "folder", "nowhere"]) {
      expect(() => textLines(join(folder, name))).toThrow(InvalidArgumentError);
      expect(() => textLines(join(folder, name))).toThrow(join(folder, name));
    }
  });
});

describe("publishPlace", () => {
  it("accepts bucket names of 3 to 63 characters", () => {
    for (const length of [3, 63]) expect(publishPlace(`s3://${"9".repeat(length)}`)).toMatchObject({ prefix: "" });
    for (const length of [2, 64])
      expect(() => publishPlace(`s3://${"9".repeat(length)}`)).toThrow(InvalidArgumentError);
  });

  it.each([
    ["s3://bucket", "bucket", ""],
    ["s3://bucket/", "bucket", ""],
    ["s3://my.bucket-1/team-a", "my.bucket-1", "team-a/"],
    ["s3://bucket/team a/models//", "bucket", "team a/models/"],
  ])("reads %s", (url, bucket, prefix) => {
    expect(publishPlace(url)).toEqual({ kind: "s3", bucket, prefix });
  });

  it.each(["assets", "folder"])("reads the folder of %s:", (kind) => {
    expect(publishPlace(`${kind}:public/my models`)).toEqual({ kind, folder: "public/my models" });
  });

  it("reads a bucket on this machine", () => {
    expect(publishPlace("r2-local:my-models")).toEqual({ kind: "r2-local", bucket: "my-models" });
  });

  it.each([
    "",
    "bucket",
    "s3://",
    "s3://ab",
    "s3://Bucket",
    "s3://-ab",
    "s3://abc-",
    "S3://bucket",
    "https://bucket/x",
    "s3://bucket?x",
    "assets:",
    "assets",
    "folder:",
    "r2-local:",
    "r2-local:my models",
    "r2-local:bucket/prefix",
    "r2:bucket",
  ])("refuses %j and shows the expected format", (url) => {
    expect(() => publishPlace(url)).toThrow(InvalidArgumentError);
    expect(() => publishPlace(url)).toThrow("s3://bucket/prefix");
  });
});

describe("--golden", () => {
  it("ends prepare with 1 and the reading that fits, and writes nothing", async () => {
    const { folder } = await writtenCase("embed", { "1_Pooling/config.json": { pooling_mode: "cls" } });
    const cwd = join(folder, "..");
    const args = ["prepare", "my-model", "--out", "out", "--golden", "golden.jsonl", "--no-cache"];
    const { code, stderr } = await runCommandLine(args, { cwd });
    expect(code).toBe(1);
    expect(stderr).toContain("Error golden_mismatch");
    expect(stderr).toContain("with mean pooling instead of cls");
    const json = await runCommandLine([...args, "--json"], { cwd });
    expect(JSON.parse(json.stdout)).toMatchObject({ error: { code: "golden_mismatch" } });
  });

  it("gives verify a column, and ends it with 1 if a line is below --golden-min", async () => {
    const { folder, golden } = await writtenCase("embed");
    const artifact = await prepared({ model: folder, name: "mine", targets: ["edge"], ...quick });
    const good = await runCommandLine(["verify", artifact, "--golden", golden]);
    expect(good).toMatchObject({ code: 0, stdout: expect.stringContaining("golden, worst") });
    const strict = await runCommandLine(["verify", artifact, "--golden", golden, "--golden-min", "1"]);
    expect(strict).toMatchObject({ code: 1, stderr: expect.stringContaining("edge does not give the answers of") });
  });

  it("takes shares only", async () => {
    const { code, stderr } = await runCommandLine(["verify", "artifact", "--golden", "a.jsonl", "--golden-min", "2"]);
    expect([code, stderr]).toEqual([2, expect.stringContaining("not a number from 0 to 1")]);
  });
});
