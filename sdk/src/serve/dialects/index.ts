import type { Dialect, Route } from "../routes/dialect.ts";
import { cohere } from "./cohere.ts";
import { huggingFace } from "./hugging-face.ts";
import { openAi } from "./openai.ts";
import { own } from "./own.ts";
import { tei } from "./tei.ts";

/** The dialects that are understood. */
export const dialects: readonly Dialect[] = [own, openAi, cohere, tei, huggingFace];

const all = dialects.flatMap(({ routes }) => routes);
const isVersioned = ({ path }: Route): boolean => /^\/v\d/.test(path);

/** Routes under `/v1` and `/v2`, for every app. */
export const versionedRoutes: readonly Route[] = all.filter(isVersioned);

/** Routes at the root, for deployments that are apps of their own. */
export const rootRoutes: readonly Route[] = all.filter((route) => !isVersioned(route));

/** Routes that are described, and offered to callers of unknown ones. */
export const shownRoutes: readonly Route[] = all.filter(({ isInternal }) => !isInternal);

/** Longer paths first: `/v1/embed` ends like `/embed`. */
const byLength = dialects
  .flatMap((dialect) => dialect.routes.map(({ path }) => ({ path, dialect })))
  .filter(({ path }) => path !== "/")
  .sort((a, b) => b.path.length - a.path.length);

/** Returns the dialect of a request's path, which can have anything before the route: the app can be mounted anywhere. */
export function dialectOf(path: string): Dialect {
  const bare = path.replace(/\/$/, "");
  const known = byLength.find((route) => bare.endsWith(route.path));
  if (known) return known.dialect;
  if (bare === "" || /^\/models\/[^/]+$/.test(bare)) return huggingFace;
  return path.includes("/v2/") ? cohere : own;
}
