import { once } from "node:events";
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { refusalOf } from "#test/fixtures/refusal.ts";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import { assertWritable, replaceFile, withOutputFile } from "./output-file.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "bert-edge-replace-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

describe("replaceFile", () => {
  it("makes a file and its folder, replaces it, and leaves nothing else", async () => {
    const path = join(folder, "in", "a.json");
    await replaceFile(path, "one");
    await replaceFile(path, "two");
    expect(await readFile(path, "utf8")).toBe("two");
    expect(await readdir(join(folder, "in"))).toEqual(["a.json"]);
  });

  it("writes through no link, neither at the path nor at a name beside it", async () => {
    const [path, victim] = [join(folder, "a.json"), join(folder, "victim")];
    await writeFile(victim, "mine");
    for (const link of [path, `${path}.tmp`]) await symlink(victim, link);
    await replaceFile(path, "new");
    expect([await readFile(victim, "utf8"), await readFile(path, "utf8")]).toEqual(["mine", "new"]);
  });

  it("leaves no temporary file when it fails", async () => {
    await mkdir(join(folder, "a.json"));
    await expect(replaceFile(join(folder, "a.json"), "new")).rejects.toThrow();
    expect(await readdir(folder)).toEqual(["a.json"]);
  });
});

describe("withOutputFile", () => {
  it("moves a file and its external data to `out`, and leaves no other files", async () => {
    const folder = await temporaryFolder();
    const out = join(folder, "model.onnx");
    await writeFile(out, "earlier");
    const result = await withOutputFile(out, async ({ path, folder: own, publish }) => {
      await writeFile(path, "model");
      await writeFile(`${path}.data`, "weights");
      await writeFile(join(own, "notes"), "whatever");
      expect(await readFile(out, "utf8")).toBe("earlier");
      await publish();
      return 7;
    });
    expect(result).toBe(7);
    expect((await readdir(folder)).sort()).toEqual(["model.onnx", "model.onnx.data"]);
    expect(await readFile(out, "utf8")).toBe("model");
    expect(await readFile(`${out}.data`, "utf8")).toBe("weights");
  });

  it.each([
    ["is not published", async () => {}],
    ["fails", () => Promise.reject(new Error("no"))],
  ])("leaves existing files as they were when the work %s", async (_, end) => {
    const folder = await temporaryFolder();
    const out = join(folder, "model.onnx");
    await writeFile(out, "earlier");
    const work = withOutputFile(out, async ({ path }) => {
      await writeFile(path, "draft");
      await end();
    });
    await work.catch((error: Error) => expect(error.message).toBe("no"));
    expect(await readdir(folder)).toEqual(["model.onnx"]);
    expect(await readFile(out, "utf8")).toBe("earlier");
  });
});

describe("assertWritable", () => {
  it("accepts a new file and an existing one", async () => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, "old.onnx"), "");
    for (const name of ["old.onnx", "new.onnx"])
      expect(await refusalOf(assertWritable(join(folder, name)))).toBe("accepted");
  });

  it.runIf(process.platform === "linux")("refuses a folder that the system does not let anybody write to", async () => {
    await expect(assertWritable("/proc/model.onnx")).rejects.toMatchObject({ code: "out_unwritable" });
  });

  it.runIf(process.platform !== "win32")("refuses what is no regular file, also behind a link", async () => {
    const folder = await temporaryFolder();
    const socket = join(folder, "socket");
    const server = createServer().listen(socket);
    await once(server, "listening");
    await symlink(socket, join(folder, "link"));
    for (const out of [socket, join(folder, "link")]) {
      await expect(assertWritable(out)).rejects.toMatchObject({
        code: "out_unwritable",
        message: `${out} is a pipe, a device or a socket.`,
      });
    }
    server.close();
  });

  it("refuses a folder, a file in a missing folder, and an empty path", async () => {
    const folder = await temporaryFolder();
    await mkdir(join(folder, "model.onnx"));
    for (const out of [join(folder, "model.onnx"), join(folder, "none/model.onnx"), ""]) {
      await expect(assertWritable(out)).rejects.toMatchObject({ code: "out_unwritable", hint: expect.any(String) });
    }
  });
});
