import type { Wording } from "../../artifact/error.ts";
import type { Dialect } from "../routes/dialect.ts";
import type { Route } from "../routes/task-route.ts";
import { cohere } from "./cohere.ts";
import { huggingFace } from "./hugging-face.ts";
import { openAi } from "./openai.ts";
import { jina, own } from "./own.ts";
import { tei } from "./tei.ts";

/** All dialects. The first one writes the errors of paths that belong to no dialect. */
export const dialects: readonly Dialect[] = [own, jina, openAi, cohere, tei, huggingFace];

/** Whether a route is under `/v1` or `/v2`. Apps of `embeddings()` have only such routes, so that they can be mounted in other apps. */
export const isVersioned = ({ path }: Route): boolean => /^\/v\d/.test(path);

export const routesOf = (known: readonly Dialect[]): readonly Route[] => known.flatMap(({ routes }) => routes);

/** Returns the routes that docs show and that errors about unknown routes suggest. */
export const shownRoutes = (known: readonly Dialect[]): readonly Route[] =>
  routesOf(known).filter(({ isInternal }) => !isInternal);

/** Returns the words that advice uses for a request's route. For tasks that its dialect lacks, advice recommends a route of bert-edge. */
export function wordingOf(path: string, known: readonly Dialect[] = dialects): Wording {
  const dialect = dialectOf(path, known);
  const bare = path.replace(/\/$/, "");
  const route = dialect.routes.find(({ path }) => path === "/" || bare.endsWith(path));
  return {
    field(name, value) {
      if (name === "model" && /\/models\/[^/]+/.test(path)) return ["the model in the path", value];
      const [field, spelled] = route?.spelled?.(name, value) ?? [name, value];
      return [`\`${field}\``, spelled];
    },
    task(task) {
      const found = routesOf([dialect, ...known]).find((each) => each.task === task);
      return `send a body such as ${JSON.stringify(found?.example)} to ${found?.path}`;
    },
  };
}

/** Returns the dialect of a request's path. The app can be mounted anywhere, so any text can precede the route. */
export function dialectOf(path: string, known: readonly Dialect[] = dialects): Dialect {
  const bare = path.replace(/\/$/, "");
  const isRoot = bare === "" || /^\/models\/[^/]+$/.test(bare);
  const isMeant = (route: string) => (isRoot ? route === "/" : route !== "/" && bare.endsWith(route));
  // The longest match wins, because `/v1/embed` ends with `/embed` too.
  const lengthIn = ({ routes, below }: Dialect) =>
    Math.max(
      !isRoot && below && path.includes(below) ? below.length : 0,
      ...routes.map((route) => (isMeant(route.path) ? route.path.length : 0)),
    );
  return known.reduce((best, each) => (lengthIn(each) > lengthIn(best) ? each : best));
}
