import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { errorLog } from "#test/fixtures/error-log.ts";
import { memoryStore } from "../../storage/memory.ts";
import { checkKeyList, keysFromEnv, keysFromStore, parseKeys } from "./key-list.ts";
import { findKey, keyRing, knownKeys } from "./key-ring.ts";

const log = errorLog();
const hash = (key: string) => `sha256:${createHash("sha256").update(key).digest("hex")}`;

describe("knownKeys and findKey", () => {
  it("finds exactly the configured keys, whether they are plain or hashed, at the first and at later tries", async () => {
    const key = fc.stringMatching(/^[!-~]{1,40}$/).filter((text) => !/sha256:|^#|[{}[\]<>",]/i.test(text));
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(key, { minLength: 2, maxLength: 5 }), key, async (keys, other) => {
        const known = await knownKeys(keys.map((each, i) => (i % 2 ? hash(each) : each)));
        for (const sent of [...keys, ...keys]) {
          expect((await findKey(known, sent))?.sha256).toBe(hash(sent).slice(7));
        }
        expect((await findKey(known, other)) !== undefined).toBe(keys.includes(other));
      }),
      { numRuns: 30, seed: 19 },
    );
  });

  it("does not accept a hash as a key", async () => {
    const known = await knownKeys([hash("secret")]);
    expect(await findKey(known, hash("secret"))).toBeUndefined();
    expect(await findKey(known, hash("secret").slice(7))).toBeUndefined();
  });

  it("names keys by their option, their entry or the digits of their hash", async () => {
    const keys = await knownKeys([{ key: hash("a"), name: "web" }, `batch:${hash("b")}`, "c", hash("c")]);
    const digits = `key-${hash("c").slice(7, 15)}`;
    expect(keys.map(({ name }) => name)).toEqual(["web", "batch", digits, digits]);
  });
});

describe("parseKeys", () => {
  it("reads keys and hashes apart from each other by commas or newlines", () => {
    expect(parseKeys(`one, web:${hash("a")}\ntwo,`).map((key) => String(key).trim())).toEqual([
      ...["one", `web:${hash("a")}`, "two", ""],
    ]);
  });

  it("reads a JSON array with options", () => {
    const keys = [{ key: hash("a"), name: "web", requestsPerMinute: 60, tier: "edge" }];
    expect(parseKeys(JSON.stringify(keys))).toEqual(keys);
  });

  it.each([
    "sha256:12",
    `team-${hash("a")}`,
    `{\n  "name": "web",\n  "key": "${hash("a")}"\n}`,
    `web:${hash("a")}\n{\n}`,
    "\n<!doctype html>\n<html>\n<body>topsecret</body>\n</html>",
    "topsecret\n</Error>",
    `# keys of the team\nweb:${hash("a")}`,
    "#team",
    "top secret",
    "schl\u00fcssel",
    '[{"key": "}"}]',
    `web site:${hash("a")}`,
    "[1]",
    "[topsecret, web-77aa]",
    "[",
    '[{"key": "topsecret", "name": "a b"}]',
    '[{"key": "topsecret", "requestsPerMinute": 0}]',
    '[{"key": "topsecret", "tokensPerMinute": "9"}]',
    '[{"key": "topsecret", "tier": "moon"}]',
    '[{"key": "topsecret", "jobs": true}]',
    '[{"key": "topsecret", "requestPerMinute": 9}]',
  ])("refuses %s, and shows no key", (text) => {
    expect(() => parseKeys(text)).toThrow(
      expect.objectContaining({ code: "setting_invalid", message: expect.not.stringContaining("topsecret") }),
    );
  });
});

describe("checkKeyList", () => {
  it("asks for the secret of a key that is undefined", () => {
    expect(() => checkKeyList([undefined])).toThrow(
      expect.objectContaining({
        code: "setting_invalid",
        message: "Key 0 of the option keys is undefined. Is the secret set?",
        hint: expect.stringMatching(/\.dev\.vars.*wrangler secret put/),
      }),
    );
  });
});

it("a field that no key has is named, with the one that is meant", () => {
  expect(() => checkKeyList([{ key: "k", tokenPerMinute: 1 }])).toThrow(
    expect.objectContaining({
      code: "setting_invalid",
      message: expect.stringContaining('unknown field "tokenPerMinute" at index 0'),
      hint: expect.stringContaining("Did you mean tokensPerMinute"),
    }),
  );
});

describe("keysFromStore", () => {
  it("reads the object, and names the store and the path if it is missing", async () => {
    const store = memoryStore();
    await store.put("keys.txt", new TextEncoder().encode("one\ntwo"), { contentType: "text/plain" });
    expect(await keysFromStore(store, "keys.txt")).toEqual(["one", "two"]);
    await expect(keysFromStore(store, "other")).rejects.toMatchObject({
      code: "setting_invalid",
      message: expect.stringContaining("other"),
    });
  });
});

describe("keys of one name", () => {
  const hash = "a".repeat(64);

  it("have the strictest limits that any of them has", async () => {
    const known = await knownKeys([
      { key: "one", name: "web", requestsPerMinute: 3, textsPerMinute: 50 },
      { key: "other", name: "mobile", requestsPerMinute: 7 },
      { key: "two", name: "web", requestsPerMinute: 100_000, tokensPerMinute: 9 },
    ]);
    const limits = { requestsPerMinute: 3, textsPerMinute: 50, tokensPerMinute: 9 };
    expect(known.find(({ plain }) => plain === "one")).toMatchObject(limits);
    expect(known.find(({ plain }) => plain === "two")).toMatchObject(limits);
    expect(known.find(({ plain }) => plain === "other")).toMatchObject({ requestsPerMinute: 7 });
  });

  it.each([
    ["an object", { key: "two", name: "web", tier: "edge" as const }],
    ["a hash", `web:sha256:${hash}`],
    ["an object with a named hash", { key: `web:sha256:${hash}` }],
  ])("are refused if one of them has no limits: %s", (_, unlimited) => {
    const keys = [{ key: "one", name: "web", requestsPerMinute: 3 }, unlimited];
    for (const list of [keys, keys.toReversed()]) {
      expect(() => checkKeyList(list)).toThrow(
        expect.objectContaining({
          code: "setting_invalid",
          message: expect.stringContaining(
            `has a key at index ${list.indexOf(unlimited)} without limits, but another key named web has limits`,
          ),
        }),
      );
    }
  });

  it("see all jobs only if each of them says so, and are alone if no key has another name", async () => {
    const all = (key: string, name = "ops") => ({ key, name, jobs: "all" as const });
    const jobsOf = async (...keys: Parameters<typeof knownKeys>[0]) => (await knownKeys(keys)).map(({ jobs }) => jobs);
    expect(await jobsOf(all("one"), all("two"), all("three", "web"))).toEqual(["all", "all", "all"]);
    expect(await jobsOf(all("one"), { key: "two", name: "ops" }, "three")).toEqual(["own", "own", "own"]);
    const isAlone = async (...keys: Parameters<typeof knownKeys>[0]) => (await knownKeys(keys))[0]?.isAlone;
    expect([await isAlone("one", ""), await isAlone("one", "two")]).toEqual([true, false]);
    expect(await isAlone({ key: "one", name: "web" }, { key: "two", name: "web" })).toBe(true);
  });

  it("need no limits, and keys without a name share none", () => {
    expect(checkKeyList([`web:sha256:${hash}`, { key: "two", name: "web" }])).toHaveLength(2);
    expect(checkKeyList(["one", { key: "two", requestsPerMinute: 3 }])).toHaveLength(2);
  });
});

describe("keysFromStore, of an object that is too large", () => {
  it("reads no more than a list of keys can have", async () => {
    let pieces = 0;
    const commas = new Uint8Array(100_000).fill(44);
    const endless = () =>
      new ReadableStream({
        pull(stream) {
          pieces++;
          stream.enqueue(commas);
        },
      });
    const store = { ...memoryStore(), open: async () => endless() };
    await expect(keysFromStore(store, "keys.txt")).rejects.toMatchObject({
      code: "storage_unavailable",
      message: expect.stringContaining("larger than 1048576 bytes"),
    });
    expect(pieces).toBeLessThan(20);
  });
});

describe("keysFromEnv", () => {
  it("reads KEYS_OBJECT, or else API_KEYS, and has no keys without both", async () => {
    const store = memoryStore();
    await store.put("keys.txt", new TextEncoder().encode("stored"), { contentType: "text/plain" });
    expect(await keysFromEnv({ API_KEYS: "a", KEYS_OBJECT: "keys.txt" }, store)).toEqual(["stored"]);
    expect(await keysFromEnv({ API_KEYS: "a,b" }, store)).toEqual(["a", "b"]);
    expect(await knownKeys(await keysFromEnv({}, store))).toEqual([]);
  });
});

describe("keyRing", () => {
  function setUp(first: string[]) {
    const state = { now: 0, keys: first as string[] | Error, reads: 0, background: [] as Promise<unknown>[] };
    const ring = keyRing<undefined>(
      async () => {
        state.reads++;
        if (state.keys instanceof Error) throw state.keys;
        return state.keys;
      },
      () => state.now,
    );
    const current = async () =>
      (await ring(undefined, (work) => state.background.push(work))).map(({ plain, sha256 }) => plain ?? sha256);
    return { state, current };
  }

  it("accepts new keys, and no revoked one, after a minute", async () => {
    const { state, current } = setUp(["old"]);
    expect(await current()).toEqual(["old"]);
    state.keys = ["new"];
    state.now = 44_000;
    expect([await current(), state.reads]).toEqual([["old"], 1]);
    state.now = 60_000;
    expect([await current(), state.reads]).toEqual([["new"], 2]);
  });

  it("reads in the background while the keys are fresh enough", async () => {
    const { state, current } = setUp(["old"]);
    await current();
    state.keys = ["new"];
    state.now = 46_000;
    expect(await current()).toEqual(["old"]);
    await Promise.all(state.background);
    expect([await current(), state.reads]).toEqual([["new"], 2]);
  });

  it("keeps earlier keys when reading fails, tries again later, and fails without earlier keys", async () => {
    const { state, current } = setUp(["old"]);
    await current();
    state.keys = new Error("down");
    state.now = 61_000;
    expect(await current()).toEqual(["old"]);
    expect(log).toHaveBeenCalledTimes(1);
    expect([await current(), state.reads]).toEqual([["old"], 2]);
    state.keys = ["new"];
    state.now = 67_000;
    expect(await current()).toEqual(["new"]);
    const broken = setUp([]);
    broken.state.keys = new Error("down");
    await expect(broken.current()).rejects.toThrow("down");
  });

  it("needs no hash for a key that was sent before it was read again", async () => {
    const state = { now: 0 };
    const ring = keyRing<undefined>(
      () => [hash("secret")],
      () => state.now,
    );
    await findKey(await ring(undefined, () => {}), "secret");
    state.now = 60_000;
    expect((await ring(undefined, () => {}))[0]?.plain).toBe("secret");
  });
});
