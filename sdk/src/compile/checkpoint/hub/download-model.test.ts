import { appendFile, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { end, GOOD_TOKEN, type HubServer, hubServer, type TestRepository } from "#test/fixtures/hub-server.ts";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import type { HubModel } from "../../../storage/hub-model.ts";
import { type DownloadModelOptions, downloadModel } from "./download-model.ts";

const COMMIT = "a".repeat(40);
/** Larger than a socket's buffers, so that a server can break off in the middle. */
const WEIGHTS = Uint8Array.from({ length: 3_000_000 }, (_, i) => (i * 7 + (i >> 8)) % 256);

const encoder: TestRepository = {
  commit: COMMIT,
  revisions: ["main", "v1.0", "refs/pr/3"],
  files: {
    ".gitattributes": "*.bin filter=lfs",
    "1_Pooling/config.json": '{"pooling_mode_mean_tokens":true}',
    "README.md": "# A model",
    "config.json": '{"model_type":"bert","architectures":["BertModel"]}',
    "model.safetensors": WEIGHTS,
    "modules.json": '[{"path":"","type":"Transformer"},{"path":"1_Pooling","type":"Pooling"}]',
    "onnx/model.onnx": "an export",
    "pytorch_model.bin": "pickled",
    "tokenizer.json": "{}",
  },
};
const NEEDED = ["1_Pooling/config.json", "config.json", "model.safetensors", "modules.json", "tokenizer.json"];

/** Starts a Hub with the models org/encoder and org/old, which was renamed to it. */
async function hub(repository: Partial<TestRepository> = {}, more: Record<string, TestRepository> = {}) {
  const server = await hubServer({ "org/encoder": { ...encoder, ...repository }, "org/old": "org/encoder", ...more });
  const cache = await temporaryFolder();
  const waits: number[] = [];
  const get = (model: Partial<HubModel> = {}, { token, ...options }: DownloadModelOptions & { token?: string } = {}) =>
    downloadModel(
      { name: "org/encoder", revision: "main", file: undefined, ...model },
      {
        settings: {
          ...{ endpoint: new URL(server.endpoint), cache },
          token: token === undefined ? undefined : { value: token, source: "HF_TOKEN" },
        },
        wait: async (ms) => void waits.push(ms),
        ...options,
      },
    );
  return { server, cache, waits, get };
}

/** Whether a folder has the weights, byte for byte. `toEqual` takes a second for three million bytes. */
const hasWeights = async (folder: string): Promise<boolean> =>
  (await readFile(join(folder, "model.safetensors"))).equals(WEIGHTS);

async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return files.map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1)).toSorted();
}

/** Lets the storage break off the first `times` transfers after `bytes` bytes. */
function breakOff(server: HubServer, times: number, bytes = 1_500_000): void {
  let left = times;
  server.fault = ({ url, headers }, response) => {
    if (!/^\/[0-9a-f]{64}$/.test(url ?? "") || left-- <= 0) return false;
    const from = Number(/\d+/.exec(headers.range ?? "") ?? 0);
    const piece = WEIGHTS.subarray(from, from + bytes);
    const range = { "content-range": `bytes ${from}-${WEIGHTS.length - 1}/${WEIGHTS.length}` };
    response.writeHead(from > 0 ? 206 : 200, { "content-length": WEIGHTS.length - from, ...(from > 0 && range) });
    response.write(piece, () => response.socket?.end());
    return true;
  };
}

describe("downloadModel", () => {
  it("downloads the needed files, and takes them from the cache the second time", async () => {
    const { server, cache, get } = await hub();
    const shares: number[] = [];
    const messages = new Set<string>();
    const onProgress = (message: string, share: number) => {
      shares.push(share);
      messages.add(message);
    };
    const first = await get({}, { onProgress });
    expect(first).toMatchObject({ name: "org/encoder", commit: COMMIT, isOffline: false });
    expect(first.path).toBe(join(cache, "models--org--encoder/snapshots", COMMIT));
    expect(await filesIn(first.path)).toEqual(NEEDED);
    expect(await hasWeights(first.path)).toBe(true);
    expect(first.downloadedBytes).toBe(first.bytes);
    expect([...messages]).toEqual([`download org/encoder@${COMMIT.slice(0, 7)} (3.0 MB)`]);
    expect(shares.at(-1)).toBe(1);
    expect(shares).toEqual(shares.toSorted((a, b) => a - b));

    server.requests.length = 0;
    const second = await get();
    expect(second).toEqual({ ...first, downloadedBytes: 0 });
    expect(server.requests.map(({ path }) => path)).toEqual(["/api/models/org/encoder/revision/main"]);
  });

  it("asks nobody for a commit that the cache has", async () => {
    const { server, get } = await hub();
    await get({ revision: "v1.0" });
    server.requests.length = 0;
    expect(await get({ revision: COMMIT })).toMatchObject({ commit: COMMIT, downloadedBytes: 0 });
    expect(server.requests).toEqual([]);
  });

  it("takes the last known commit if the Hub cannot be asked", async () => {
    const { server, get } = await hub();
    await get({ revision: "refs/pr/3" });
    server.fault = (_, response) => {
      end(response, 503);
      return true;
    };
    expect(await get({ revision: "refs/pr/3" })).toMatchObject({ commit: COMMIT, isOffline: true });
    await expect(get({ revision: "v1.0" })).rejects.toMatchObject({ code: "hub_unavailable" });
  });

  it("follows a renamed model, and says its new name", async () => {
    const { server, get } = await hub();
    expect(await get({ name: "org/old" }, { token: GOOD_TOKEN })).toMatchObject({ name: "org/encoder" });
    expect(server.requests.slice(0, 2).map(({ path }) => path)).toEqual([
      "/api/models/org/old/revision/main",
      "/api/models/org/encoder/revision/main",
    ]);
  });

  it("sends the token to the Hub, and never to the host that a redirect leads to", async () => {
    const { server, get } = await hub({ token: GOOD_TOKEN });
    await get({}, { token: GOOD_TOKEN });
    const tokens = (host: string) =>
      new Set(server.requests.filter((each) => each.host === host).map(({ headers }) => headers.authorization));
    expect([...tokens("hub")]).toEqual([`Bearer ${GOOD_TOKEN}`]);
    expect([...tokens("storage")]).toEqual([undefined]);
  });
});

describe("an interrupted download", () => {
  const rangesOf = (server: HubServer) =>
    server.requests.filter(({ host }) => host === "storage").map(({ headers }) => headers.range);

  it("goes on by itself where it ended", async () => {
    const { server, waits, get } = await hub();
    breakOff(server, 1);
    const { path } = await get();
    expect(await hasWeights(path)).toBe(true);
    expect(rangesOf(server)).toEqual([undefined, expect.stringMatching(/^bytes=[1-9]\d*-$/)]);
    expect(waits).toEqual([500]);
  });

  it("goes on in the next run", async () => {
    const { server, cache, get } = await hub();
    breakOff(server, Number.POSITIVE_INFINITY, 100_000);
    const failed = await get().catch((error: unknown) => error);
    expect(failed).toMatchObject({ code: "hub_unavailable", hint: expect.stringContaining("is kept") });
    const partial = (await filesIn(cache)).filter((file) => file.endsWith(".incomplete"));
    expect(partial).toHaveLength(1);
    const kept = (await stat(join(cache, partial[0] ?? ""))).size;
    expect(kept).toBeGreaterThan(0);

    server.fault = () => false;
    server.requests.length = 0;
    const { path } = await get();
    expect(rangesOf(server)).toEqual([`bytes=${kept}-`]);
    expect(await hasWeights(path)).toBe(true);
    expect((await filesIn(cache)).filter((file) => /incomplete|tmp/.test(file))).toEqual([]);
  });

  it("goes on with a server that sends the whole file again", async () => {
    const { server, get } = await hub();
    breakOff(server, 1);
    const interrupt = server.fault;
    server.fault = (request, response) => {
      if (interrupt(request, response)) return true;
      if (request.headers.range) delete request.headers.range;
      return false;
    };
    const { path } = await get();
    expect(await hasWeights(path)).toBe(true);
  });

  it("starts again if the part that was kept is damaged", async () => {
    const { server, cache, get } = await hub();
    breakOff(server, Number.POSITIVE_INFINITY, 100_000);
    await get().catch(() => {});
    const blobs = join(cache, "models--org--encoder/blobs");
    const [partial = ""] = (await readdir(blobs)).filter((file) => file.endsWith(".incomplete"));
    await writeFile(join(blobs, partial), "damaged");
    server.fault = () => false;
    server.requests.length = 0;
    const { path } = await get();
    expect(rangesOf(server)).toEqual(["bytes=7-", undefined]);
    expect(await hasWeights(path)).toBe(true);
  });

  it("ends with `aborted` when its signal aborts", async () => {
    const { server, get } = await hub();
    const controller = new AbortController();
    server.fault = ({ url }, response) => {
      if (!/^\/[0-9a-f]{64}$/.test(url ?? "")) return false;
      response.writeHead(200, { "content-length": WEIGHTS.length });
      response.write(WEIGHTS.subarray(0, 100_000), () => controller.abort());
      return true;
    };
    await expect(get({}, { signal: controller.signal })).rejects.toMatchObject({ code: "aborted" });
  });
});

describe("a download is refused", () => {
  const answer = (status: number, headers: Record<string, string> = {}) => ({ status, headers });
  it.each([
    ["429 with a wait that is too long", answer(429, { "retry-after": "120" }), 120_000],
    ["the Hub's own wait", answer(429, { ratelimit: '"api";r=0;t=300' }), 300_000],
    ["500", answer(500, { "x-request-id": "Root=1-23" }), undefined],
    ["503", answer(503), undefined],
  ])("after %s", async (_, { status, headers }, retryAfterMs) => {
    const { server, waits, get } = await hub();
    server.fault = (_request, response) => {
      end(response, status, headers);
      return true;
    };
    const message = expect.stringContaining(
      `answered HTTP ${status}${headers["x-request-id"] ? " (request Root=1-23)" : ""}.`,
    );
    await expect(get()).rejects.toMatchObject({ code: "hub_unavailable", message, retryAfterMs });
    expect(waits).toEqual(retryAfterMs === undefined ? [500, 1000, 2000, 4000] : []);
  });

  it("waits as long as the Hub asks, if it is short", async () => {
    const { server, waits, get } = await hub();
    let refused = false;
    server.fault = (_, response) => {
      if (refused) return false;
      refused = true;
      end(response, 429, { "retry-after": "7" });
      return true;
    };
    expect(await get()).toMatchObject({ commit: COMMIT });
    expect(waits).toEqual([7000]);
  });

  it.each([
    ["a model that does not exist", { name: "org/none" }, {}, "hub_model_missing", /no model org\/none/, /HF_TOKEN/],
    [
      "the same, with a token",
      { name: "org/none" },
      { token: GOOD_TOKEN },
      "hub_model_missing",
      /org\/none/,
      /may lack/,
    ],
    ["a wrong token", {}, { token: "hf_bad" }, "hub_access_denied", /does not accept the token/, /settings\/tokens/],
    ["a gated model", { name: "org/gated" }, {}, "hub_access_denied", /is gated/, /Ask for access on .*org\/gated/],
    [
      "a gated model without access",
      { name: "org/gated" },
      { token: GOOD_TOKEN },
      "hub_access_denied",
      /is gated/,
      /Ask/,
    ],
    ["a renamed revision", { revision: "v0.9" }, {}, "hub_model_missing", /no revision v0\.9/, /renamed or removed/],
    ["a missing ONNX file", { file: "onnx/none.onnx" }, {}, "checkpoint_missing", /onnx\/none/, /onnx\/model\.onnx/],
  ])("for %s", async (_, model, options, code, message, hint) => {
    const { get } = await hub({}, { "org/gated": { ...encoder, gated: true } });
    const expected = { code, message: expect.stringMatching(message), hint: expect.stringMatching(hint) };
    await expect(get(model, options)).rejects.toMatchObject(expected);
  });

  it("if nobody listens, with the cause", async () => {
    const { get, cache } = await hub();
    const settings = { endpoint: new URL("http://127.0.0.1:9"), token: undefined, cache };
    const failed = get({}, { settings });
    await expect(failed).rejects.toMatchObject({
      code: "hub_unavailable",
      message: expect.stringContaining("127.0.0.1:9"),
    });
  });

  it("for a file whose hash is wrong, and removes the file", async () => {
    const { server, cache, get } = await hub();
    server.fault = ({ url }, response) => {
      if (!/^\/[0-9a-f]{64}$/.test(url ?? "")) return false;
      response.end(WEIGHTS.map((byte, i) => (i === 77 ? byte ^ 1 : byte)));
      return true;
    };
    const expected = { code: "hub_file_corrupt", message: expect.stringContaining("model.safetensors does not match") };
    await expect(get()).rejects.toMatchObject(expected);
    expect((await filesIn(cache)).filter((file) => /incomplete|model\.safetensors/.test(file))).toEqual([]);
  });

  it("for a server that sends too much", async () => {
    const { server, get } = await hub();
    server.fault = ({ url }, response) => {
      if (!url?.endsWith("/tokenizer.json")) return false;
      response.end("{}{}");
      return true;
    };
    await expect(get()).rejects.toMatchObject({ code: "hub_answer_invalid" });
  });

  it.each([
    ["ftp://127.0.0.1/x", /only https/],
    ["http://models.example.com/x", /only https/],
    ["/api/models/org/encoder/revision/main", /redirects more than/],
  ])("for a redirect to %s", async (location, message) => {
    const { server, get } = await hub();
    server.fault = (_, response) => {
      end(response, 302, { location });
      return true;
    };
    const expected = { code: "hub_answer_invalid", message: expect.stringMatching(message) };
    await expect(get()).rejects.toMatchObject(expected);
  });

  it.each(["../evil", "/evil", "a\\..\\evil", "C:evil"])("for a file named %s", async (path) => {
    const { cache, get } = await hub({ files: { ...encoder.files, [path]: "x" } });
    await expect(get()).rejects.toMatchObject({ code: "hub_answer_invalid" });
    expect((await filesIn(cache)).filter((file) => file.includes("evil"))).toEqual([]);
  });

  it("for a server that is not the Hub", async () => {
    const { server, get } = await hub();
    server.fault = (_, response) => {
      response.end("<html>Log in to this network</html>");
      return true;
    };
    await expect(get()).rejects.toMatchObject({ code: "hub_answer_invalid" });
  });

  it("when a server says nothing, or too little", async () => {
    const { server, get } = await hub();
    server.fault = () => true;
    const bytesPerSecond = 1e9;
    const silent = { code: "hub_unavailable", message: expect.stringContaining("sent nothing for 0.05 s") };
    await expect(get({}, { limits: { silenceMs: 50, bytesPerSecond } })).rejects.toMatchObject(silent);
    server.fault = (_, response) => {
      response.write(" ");
      const timer = setInterval(() => response.write(" "), 10);
      response.on("close", () => clearInterval(timer));
      return true;
    };
    const slow = { code: "hub_unavailable", message: expect.stringContaining("bytes per second") };
    await expect(get({}, { limits: { silenceMs: 200, bytesPerSecond } })).rejects.toMatchObject(slow);
  });
});

describe("the files that are chosen", () => {
  const { "model.safetensors": _, ...rest } = encoder.files;
  const chosen = async (files: TestRepository["files"], model: Partial<HubModel> = {}) => {
    const { get, cache } = await hub({ files });
    const { path } = await get(model);
    const folder = join(cache, "models--org--encoder/snapshots", COMMIT);
    const found = (await filesIn(folder)).filter((file) => /model[-._]/.test(file));
    return { path: path.slice(folder.length), found };
  };

  it("are the shards of model.safetensors", async () => {
    const index = JSON.stringify({
      weight_map: { a: "model-00001-of-00002.safetensors", b: "model-00002-of-00002.safetensors" },
    });
    const shards = { "model-00001-of-00002.safetensors": "1", "model-00002-of-00002.safetensors": "2" };
    const { found } = await chosen({ ...rest, ...shards, "model.safetensors.index.json": index });
    expect(found).toEqual([...Object.keys(shards), "model.safetensors.index.json"]);
  });

  it("are pytorch_model.bin without safetensors, although there is an ONNX export", async () => {
    const { path, found } = await chosen(rest);
    expect({ path, found }).toEqual({ path: "", found: ["pytorch_model.bin"] });
  });

  it("are the shards of pytorch_model.bin", async () => {
    const { "pytorch_model.bin": _, ...others } = rest;
    const index = JSON.stringify({
      weight_map: { a: "pytorch_model-00001-of-00002.bin", b: "pytorch_model-00002-of-00002.bin" },
    });
    const shards = { "pytorch_model-00001-of-00002.bin": "1", "pytorch_model-00002-of-00002.bin": "2" };
    const { found } = await chosen({ ...others, ...shards, "pytorch_model.bin.index.json": index });
    expect(found).toEqual([...Object.keys(shards), "pytorch_model.bin.index.json"]);
  });

  it("are each module's safetensors, or its pytorch_model.bin", async () => {
    const modules = ["1_Pooling", "2_Dense", "3_Dense/"].map((path) => ({ path, type: "Dense" }));
    const { found } = await chosen({
      ...encoder.files,
      "modules.json": JSON.stringify(modules),
      "2_Dense/config.json": "{}",
      "2_Dense/model.safetensors": "safe",
      "2_Dense/pytorch_model.bin": "pickled",
      "3_Dense/pytorch_model.bin": "pickled",
    });
    expect(found).toEqual(["2_Dense/model.safetensors", "3_Dense/pytorch_model.bin", "model.safetensors"]);
  });

  it("are in the folder of the Transformer module, with config.json, tokenizer and lengths", async () => {
    const type = "sentence_transformers.models.Transformer";
    const { get, cache } = await hub({
      files: {
        "0_Transformer/config.json": "{}",
        "0_Transformer/model.safetensors": "safe",
        "0_Transformer/sentence_bert_config.json": "{}",
        "0_Transformer/tokenizer.json": "{}",
        "1_Pooling/config.json": "{}",
        "config.json": "{}",
        "modules.json": JSON.stringify([
          { path: "0_Transformer", type },
          { path: "1_Pooling", type: "Pooling" },
        ]),
        "tf_model.h5": "keras",
      },
    });
    const { path } = await get();
    expect(path).toBe(join(cache, "models--org--encoder/snapshots", COMMIT));
    expect(await filesIn(path)).toEqual([
      "0_Transformer/config.json",
      "0_Transformer/model.safetensors",
      "0_Transformer/sentence_bert_config.json",
      "0_Transformer/tokenizer.json",
      "1_Pooling/config.json",
      "config.json",
      "modules.json",
    ]);
  });

  it("are the ONNX export and its external data without other weights", async () => {
    const { "pytorch_model.bin": _, ...others } = rest;
    const { path, found } = await chosen({ ...others, "onnx/model.onnx_data": "data", "onnx/model_O2.onnx": "O2" });
    expect({ path, found }).toEqual({ path: "", found: ["onnx/model.onnx", "onnx/model.onnx_data"] });
  });

  it("are the ONNX file that is named", async () => {
    const { path, found } = await chosen(
      { ...encoder.files, "onnx/model_O2.onnx": "O2" },
      { file: "onnx/model_O2.onnx" },
    );
    expect({ path, found }).toEqual({ path: "/onnx/model_O2.onnx", found: ["onnx/model_O2.onnx"] });
  });
});

describe("a model that Python must change first", () => {
  const adapter = { "adapter_config.json": "{}", "adapter_model.safetensors": "lora" };
  const { "tokenizer.json": _, ...slow } = encoder.files;

  it.each<[string, TestRepository["files"], Partial<HubModel>, string, string, string]>([
    [
      "an adapter besides its model",
      { ...encoder.files, ...adapter },
      { revision: "refs/pr/3" },
      "checkpoint_unsupported",
      "org/encoder has an adapter (adapter_config.json), besides its model.",
      "Download it with `hf download org/encoder --revision refs/pr/3 --local-dir ./encoder`, and prepare ./encoder.",
    ],
    [
      "an adapter alone",
      adapter,
      {},
      "checkpoint_unsupported",
      "but no model.",
      "Download it with `hf download org/encoder --local-dir ./encoder`, and prepare ./encoder.",
    ],
    [
      "a vocabulary without tokenizer.json",
      { ...slow, "vocab.txt": "[PAD]" },
      {},
      "checkpoint_missing",
      "org/encoder has vocab.txt, but no tokenizer.json.",
      "Then give this folder instead: the error says which command makes tokenizer.json.",
    ],
    [
      "no weights",
      { "config.json": "{}", "tokenizer.json": "{}", "tf_model.h5": "keras" },
      {},
      "checkpoint_missing",
      "neither model.safetensors",
      "give org/encoder@refs/pr/<its number>",
    ],
  ])("is refused by name: %s", async (_, files, model, code, message, hint) => {
    const { get, server } = await hub({ files });
    await expect(get(model)).rejects.toMatchObject({
      ...{ code, message: expect.stringContaining(message), hint: expect.stringContaining(hint) },
    });
    expect(server.contents().filter((path) => path.endsWith(".safetensors"))).toEqual([]);
  });
});

describe("the cache", () => {
  it("repairs a file that lost its end or grew", async () => {
    const { get, cache } = await hub();
    const { path } = await get();
    await appendFile(join(path, "model.safetensors"), "x");
    await rm(join(path, "config.json"));
    const { downloadedBytes } = await get();
    expect(downloadedBytes).toBe(WEIGHTS.length);
    expect(await hasWeights(path)).toBe(true);
    expect((await filesIn(cache)).filter((file) => /incomplete|tmp/.test(file))).toEqual([]);
  });

  it("serves two downloads at the same time", async () => {
    const { get } = await hub();
    const [one, other] = await Promise.all([get(), get()]);
    expect(one.path).toBe(other.path);
    expect(await hasWeights(one.path)).toBe(true);
  });
});
