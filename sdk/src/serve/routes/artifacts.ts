import type { Context, Hono } from "hono";
import { BertEdgeError } from "../../artifact/error.ts";
import { blobKey } from "../../artifact/keys.ts";
import { type ManifestFile, tokenizerFiles } from "../../artifact/manifest.ts";
import { openPublished, readPointerText } from "../../storage/published-artifact.ts";
import type { ByteRange, ObjectStore } from "../../storage/store.ts";
import type { Deployment } from "../deployment.ts";

/** Path under which `httpStore` reads the served models: `httpStore("https://…/artifacts")`. */
export const ARTIFACTS = "/artifacts";

/** Header `cache-control` of blobs, which never change. `private`: a shared cache could give them to a caller without a key. */
const FOREVER = "private, max-age=31536000, immutable";

/**
 * Adds the routes from which browsers load the served models: the pointers to their current versions, and the files that the
 * edge target of these versions needs. No other object of the store can be read.
 */
export function addArtifactRoutes<Env extends object>(
  app: Hono<{ Bindings: Env }>,
  { service, artifacts }: Pick<Deployment<Env>, "service" | "artifacts">,
): void {
  if (!artifacts) return;
  app.get(`${ARTIFACTS}/models/:name/current.json`, async (c) => {
    const name = c.req.param("name");
    if (!service(c.env).served.names.includes(name)) throw missing(c);
    const published = await currentPointer(artifacts.store(c.env), name);
    if (!published) throw missing(c);
    // Sends the text whose signature was checked: a second read could return a newer pointer.
    return c.body(published.text, 200, { "content-type": "application/json", "cache-control": "no-cache" });
  });
  app.get(`${ARTIFACTS}/blobs/sha256/:hash{[0-9a-f]{64}}`, async (c) => {
    const hash = c.req.param("hash");
    const store = artifacts.store(c.env);
    for (const name of service(c.env).served.names) {
      const size = (await filesOf(store, name)).get(hash);
      if (size !== undefined) {
        const headers = {
          "content-type": "application/octet-stream",
          "cache-control": FOREVER,
          "accept-ranges": "bytes",
        };
        // Does not open the blob for HEAD: without a body, nothing would close it.
        if (c.req.method === "HEAD") return c.body(null, 200, headers);
        const range = rangeIn(c.req.header("range"), size);
        const body = await store.open(blobKey(hash), c.req.raw.signal, range);
        if (!body) throw missing(c);
        if (!range) return c.body(body, 200, headers);
        return c.body(body, 206, { ...headers, "content-range": `bytes ${range.begin}-${range.end - 1}/${size}` });
      }
    }
    throw missing(c);
  });
}

/** Reads the pointer to the current version of a model; undefined if the model is not published. */
const currentPointer = (store: ObjectStore, name: string) =>
  readPointerText(store, name).catch((error: unknown) => {
    if (error instanceof BertEdgeError && error.code === "model_not_published") return undefined;
    throw error;
  });

/** Returns the sizes of the files of a model's current version that a browser needs, by hash; none if the model is not published. */
async function filesOf(store: ObjectStore, name: string): Promise<ReadonlyMap<string, number>> {
  const published = await currentPointer(store, name);
  if (!published) return new Map();
  const { pointer } = published;
  const { manifest } = await openPublished(store, pointer);
  const { edge } = manifest.targets;
  const names = [...tokenizerFiles(manifest.tokenizer), edge?.model ?? [], edge?.pages ?? []].flat();
  const files = [pointer.manifest, ...names.map((file) => manifest.files[file] as ManifestFile)];
  return new Map(files.map(({ sha256, size }) => [sha256, size]));
}

/**
 * Returns the range that a request asks for. A header that is not one range with both ends inside the file is ignored, as the standard
 * allows: the answer is the whole file. https://www.rfc-editor.org/rfc/rfc9110#name-range
 */
function rangeIn(header: string | undefined, size: number): ByteRange | undefined {
  const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(header ?? "") ?? [];
  const [begin, end] = [Number(first), Number(last) + 1];
  return begin < end && end <= size ? { begin, end } : undefined;
}

const missing = (c: Context): BertEdgeError =>
  new BertEdgeError("route_unknown", `There is no object ${c.req.path} of a served model.`, {
    hint: "Read `models/<name>/current.json` first: a newer version may have been published.",
  });
