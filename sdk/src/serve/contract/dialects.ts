/** The paths of all routes that answer calls, by the API whose requests they understand. */
const paths = {
  own: [
    "/v1/answer",
    "/v1/classify",
    "/v1/embed",
    "/v1/fill-mask",
    "/v1/outputs",
    "/v1/rerank",
    "/v1/similarity",
    "/v1/sparse",
    "/v1/tag",
    "/v1/token-vectors",
    "/v1/zero-shot",
  ],
  openai: ["/v1/embeddings", "/embeddings"],
  tei: ["/embed", "/embed_all", "/embed_sparse", "/predict", "/rerank", "/similarity", "/decode", "/tokenize"],
  cohere: ["/v2/embed", "/v2/rerank"],
  "hugging-face": ["/"],
} as const;

/** The APIs whose requests are understood. */
export type DialectName = keyof typeof paths;

export type RoutePath = (typeof paths)[DialectName][number];

/** Longer paths first: `/v1/embed` ends like `/embed`. */
const byLength = (Object.keys(paths) as DialectName[])
  .flatMap((dialect) => paths[dialect].map((path) => ({ path, dialect })))
  .sort((a, b) => b.path.length - a.path.length);

/** Returns the dialect of a request's path, which can have anything before the route: the app can be mounted anywhere. */
export function dialectOf(path: string): DialectName {
  const bare = path.replace(/\/$/, "");
  const known = byLength.find((route) => bare.endsWith(route.path));
  if (known) return known.dialect;
  if (bare === "" || /^\/models\/[^/]+$/.test(bare)) return "hugging-face";
  return path.includes("/v2/") ? "cohere" : "own";
}
