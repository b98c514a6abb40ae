import { assetsStore } from "#sdk/storage/assets.ts";
import { httpStore } from "#sdk/storage/http.ts";
import { r2Store } from "#sdk/storage/r2.ts";
import { s3Store } from "#sdk/storage/s3.ts";
import type { ByteRange, ObjectStore } from "#sdk/storage/store.ts";
import type { SeededChoice } from "./choose.ts";
import { damagedBytes } from "./damage-bytes.ts";

type Bytes = Uint8Array<ArrayBuffer>;
export type Objects = ReadonlyMap<string, Bytes>;

/** Makes a store whose answers to ranges are damaged while `damage` returns a choice. Other reads are sound. */
type RangeStore = (objects: Objects, damage: () => SeededChoice | undefined) => ObjectStore;

const ENDPOINT = "http://pages.test";
const STATUSES = [301, 400, 403, 404, 416, 429, 500, 503];

/** One range in this number is damaged. An attempt needs some ten ranges. */
const SHARE = 8;

/** The drivers that can be given other answers. */
export const rangeStores: readonly RangeStore[] = [
  (objects, damage) => httpStore(ENDPOINT, { fetch: (url, init) => served(objects, damage, new Request(url, init)) }),
  (objects, damage) =>
    assetsStore({ fetch: (url, init) => served(objects, damage, new Request(url, init)) }, { prefix: "models" }),
  (objects, damage) => {
    const access = { endpoint: ENDPOINT, bucket: "bucket", accessKeyId: "a", secretAccessKey: "s" };
    const answer: typeof fetch = (input, init) => served(objects, damage, new Request(input, init));
    return s3Store({ ...access, fetch: answer });
  },
  (objects, damage) =>
    r2Store({
      async get(key, options) {
        const object = objects.get(key) as Bytes;
        if (!options) return { body: streamOf(object) };
        const { offset, length } = options.range;
        const range = { begin: offset, end: offset + length };
        const choice = damage();
        if (!choice || choice.below(SHARE) > 0) return { body: streamOf(cut(object, range)) };
        return choice.below(8) === 0 ? null : { body: bodyOf(part(object, range, choice), choice) };
      },
    }),
];

/** Answers a request of a driver. The last part of the path is the object's name. */
async function served(objects: Objects, damage: () => SeededChoice | undefined, request: Request): Promise<Response> {
  const object = objects.get(new URL(request.url).pathname.split("/").at(-1) ?? "") as Bytes;
  const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.get("range") ?? "") ?? [];
  if (from === undefined) return new Response(streamOf(object));
  const range: ByteRange = { begin: Number(from), end: Number(to) + 1 };
  const choice = damage();
  if (!choice || choice.below(SHARE) > 0) return partial(streamOf(cut(object, range)));
  switch (choice.below(8)) {
    case 0:
      return new Response("no", { status: choice.of(STATUSES), headers: { location: "/x" } });
    case 1:
      throw choice.of([new TypeError("fetch failed"), "no", undefined]);
    case 2:
      // No answer before the time limit.
      return new Promise((_, reject) => {
        request.signal.addEventListener("abort", () => reject(request.signal.reason));
      });
    case 3:
      // Servers may ignore ranges. This object is whole.
      return new Response(bodyOf(object, choice));
    case 4:
      return new Response(bodyOf(part(object, { begin: 0, end: object.length }, choice), choice));
    default:
      return partial(bodyOf(part(object, range, choice), choice));
  }
}

const partial = (body: ReadableStream<Uint8Array>) => new Response(body, { status: 206 });
const cut = (object: Bytes, { begin, end }: ByteRange): Bytes => object.slice(begin, end);

/** Returns another part of an object than the one that was asked for, or a damaged one. */
function part(object: Bytes, { begin, end }: ByteRange, choice: SeededChoice): Bytes {
  const shift = choice.of([1, 64, 1_344, -1, -1_344]);
  switch (choice.below(6)) {
    case 0:
      return damagedBytes(cut(object, { begin, end }), choice);
    case 1:
      return cut(object, { begin: Math.max(begin + shift, 0), end: Math.max(end + shift, 0) });
    case 2:
      return cut(object, { begin, end: begin + choice.below(end - begin) });
    case 3:
      return cut(object, { begin, end: end + 1 + choice.below(2_000) });
    case 4:
      return new Uint8Array();
    default:
      return cut(object, { begin, end });
  }
}

const streamOf = (bytes: Bytes): ReadableStream<Uint8Array> => new Blob([bytes]).stream();

/** Delivers bytes in pieces, one of which may be empty. One body in six breaks off or stalls. */
function bodyOf(bytes: Bytes, choice: SeededChoice): ReadableStream<Uint8Array> {
  const end = choice.below(6) === 0 ? choice.below(bytes.length + 1) : undefined;
  const stalls = choice.below(2) === 0;
  let at = 0;
  return new ReadableStream({
    async pull(controller) {
      if (at === end) return stalls ? new Promise(() => {}) : controller.error(new TypeError("terminated"));
      if (at === bytes.length) return controller.close();
      const next = Math.min(at + 1 + choice.below(4_000), end ?? bytes.length);
      controller.enqueue(bytes.slice(at, next));
      at = next;
    },
  });
}
