import { pointerKey } from "#sdk/artifact/keys.ts";
import { httpStore } from "#sdk/storage/http.ts";
import { memoryStore } from "#sdk/storage/memory.ts";
import { publish } from "#sdk/storage/publish.ts";
import { openPublished, readPointer } from "#sdk/storage/published-artifact.ts";
import { s3Store } from "#sdk/storage/s3.ts";
import { readObject } from "#test/fixtures/read-object.ts";
import { smallArtifact } from "../../fixtures/small-artifact.ts";
import { SeededChoice } from "../choose.ts";
import { damagedBytes } from "../damage-bytes.ts";
import { outcome } from "../outcome.ts";
import type { Target } from "../target.ts";

const ENDPOINT = "http://storage.test";
const statuses = [204, 206, 301, 307, 400, 401, 403, 404, 416, 429, 500, 503];
const errors = ["NoSuchBucket", "SignatureDoesNotMatch", "PermanentRedirect", "__proto__", "x".repeat(70_000)];
const lengths = ["0", "1", "-1", "99999999999999999999", "x"];

/** Answers of S3 and of web servers, to someone who opens a model and reads its files. No request leaves the process. */
export const storage: Target = {
  runs: { long: 40_000, short: 200 },
  refusals: ["storage_unavailable", "pointer_invalid", "artifact_corrupt", "model_not_published", "setting_invalid"],
  async start() {
    const artifact = await smallArtifact();
    const sound = memoryStore();
    await publish(artifact, sound);
    const files = Object.keys(artifact.manifest.files);
    const keys = [pointerKey("small"), ...Object.values(artifact.manifest.files).map(({ sha256 }) => sha256)];
    const objects = new Map<string, Uint8Array<ArrayBuffer>>();
    for (const key of keys) {
      const path = key.includes("/") ? key : `blobs/sha256/${key}`;
      objects.set(path, (await readObject(sound, path)) ?? new Uint8Array());
    }
    return (seed) => {
      const choice = new SeededChoice(seed);
      const answer = async (input: string | URL | Request): Promise<Response> => {
        const { pathname } = new URL(input instanceof Request ? input.url : input);
        return answerOf(objects.get(pathname.replace(/^\/(bucket\/)?/, "")), choice);
      };
      const access = { endpoint: ENDPOINT, bucket: "bucket", accessKeyId: "a", secretAccessKey: "s" };
      const store = choice.below(2)
        ? s3Store({ ...access, fetch: answer as typeof fetch })
        : httpStore(ENDPOINT, { fetch: answer });
      return outcome(async () => {
        const opened = await openPublished(store, await readPointer(store, "small"));
        for (const file of files) await opened.read(file);
      });
    };
  },
};

/** Gives an object. One answer in six is damaged. */
function answerOf(object: Uint8Array<ArrayBuffer> | undefined, choice: SeededChoice): Response {
  if (!object) return new Response("no", { status: 404 });
  switch (choice.below(18)) {
    case 0: {
      const status = choice.of(statuses);
      const body = status === 204 ? null : `<Error><Code>${choice.of(errors)}</Code></Error>`;
      return new Response(body, { status, headers: { location: choice.of(["/x", "//evil.example", "::"]) } });
    }
    case 1:
      return new Response(damagedBytes(object, choice));
    case 2:
      return new Response(object, { headers: { "content-length": choice.of(lengths) } });
    case 3:
      return new Response(broken(object, choice));
    default:
      return new Response(object);
  }
}

/** A body that breaks off with an error. */
function broken(object: Uint8Array, choice: SeededChoice): ReadableStream {
  const end = choice.below(object.length + 1);
  return new ReadableStream({
    start(controller) {
      controller.enqueue(object.subarray(0, end));
      controller.error(choice.of([new TypeError("terminated"), "terminated", undefined]));
    },
  });
}
