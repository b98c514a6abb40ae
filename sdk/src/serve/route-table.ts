import type { Handler } from "hono";
import type * as v from "valibot";
import { type DialectName, dialectOf, type RoutePath } from "./contract/dialects.ts";
import type { Deployment } from "./deployment.ts";
import { answerRoute } from "./routes/answer.ts";
import type { BodySchema } from "./routes/call.ts";
import { classifyRoute } from "./routes/classify.ts";
import { cohereEmbedRoute } from "./routes/cohere/embed.ts";
import { cohereRerankRoute } from "./routes/cohere/rerank.ts";
import { embedRoute } from "./routes/embed.ts";
import { fillMaskRoute } from "./routes/fill-mask.ts";
import { huggingFaceRoute } from "./routes/hugging-face/inference.ts";
import { openAiEmbeddingsRoute } from "./routes/openai-embeddings.ts";
import { outputsRoute } from "./routes/outputs.ts";
import { rerankRoute } from "./routes/rerank.ts";
import { similarityRoute } from "./routes/similarity.ts";
import { sparseRoute } from "./routes/sparse.ts";
import { tagRoute } from "./routes/tag.ts";
import { type RouteDescription, type TaskRoute, taskHandler } from "./routes/task-route.ts";
import { teiDecodeRoute } from "./routes/tei/decode.ts";
import { teiEmbedRoute } from "./routes/tei/embed.ts";
import { teiEmbedAllRoute } from "./routes/tei/embed-all.ts";
import { teiEmbedSparseRoute } from "./routes/tei/embed-sparse.ts";
import { teiPredictRoute } from "./routes/tei/predict.ts";
import { teiRerankRoute } from "./routes/tei/rerank.ts";
import { teiSimilarityRoute } from "./routes/tei/similarity.ts";
import { teiTokenizeRoute } from "./routes/tei/tokenize.ts";
import { type TokenizerRoute, tokenizerHandler } from "./routes/tei/tokenizer-handler.ts";
import { tokenVectorsRoute } from "./routes/token-vectors.ts";
import { zeroShotRoute } from "./routes/zero-shot.ts";

/** A route that answers calls of a task, in the words of a dialect. */
export interface TableRoute {
  readonly path: string;
  readonly dialect: DialectName;
  readonly schema: v.GenericSchema;
  readonly about: RouteDescription<v.GenericSchema>;
  /** Whether a model runs, so that requests can have a budget and a tier. */
  readonly runsModel: boolean;
  /** Whether only an edge calls it. Such a route is not shown to others. */
  readonly isInternal?: boolean;
  handler<Env extends object>(deployment: Deployment<Env>): Handler<{ Bindings: Env }>;
}

const entry = <S extends BodySchema, R>(path: RoutePath, route: TaskRoute<S, R>): TableRoute => ({
  path,
  dialect: dialectOf(path),
  schema: route.schema,
  about: route.about,
  runsModel: true,
  handler: (deployment) => taskHandler(deployment, route),
});

const tokenizerEntry = <S extends v.GenericSchema, Item extends string | readonly number[]>(
  path: RoutePath,
  route: TokenizerRoute<S, Item>,
): TableRoute => ({
  path,
  dialect: dialectOf(path),
  schema: route.schema,
  about: route.about,
  runsModel: false,
  handler: (deployment) => tokenizerHandler(deployment, route),
});

/** Routes under `/v1` and `/v2`, for every app. */
export const versionedRoutes: readonly TableRoute[] = [
  entry("/v1/answer", answerRoute),
  entry("/v1/classify", classifyRoute),
  entry("/v1/embed", embedRoute),
  entry("/v1/fill-mask", fillMaskRoute),
  { ...entry("/v1/outputs", outputsRoute), isInternal: true },
  entry("/v1/rerank", rerankRoute),
  entry("/v1/similarity", similarityRoute),
  entry("/v1/sparse", sparseRoute),
  entry("/v1/tag", tagRoute),
  entry("/v1/token-vectors", tokenVectorsRoute),
  entry("/v1/zero-shot", zeroShotRoute),
  entry("/v1/embeddings", openAiEmbeddingsRoute),
  entry("/v2/embed", cohereEmbedRoute),
  entry("/v2/rerank", cohereRerankRoute),
];

/** Routes at the root, for deployments that are apps of their own. */
export const rootRoutes: readonly TableRoute[] = [
  entry("/embed", teiEmbedRoute),
  entry("/embed_all", teiEmbedAllRoute),
  entry("/embed_sparse", teiEmbedSparseRoute),
  entry("/predict", teiPredictRoute),
  entry("/rerank", teiRerankRoute),
  entry("/similarity", teiSimilarityRoute),
  tokenizerEntry("/decode", teiDecodeRoute),
  tokenizerEntry("/tokenize", teiTokenizeRoute),
  entry("/embeddings", openAiEmbeddingsRoute),
  entry("/", huggingFaceRoute),
];

/** Prefix of all paths under which a request names its model, for dialects without a field for it. */
export const MODEL_PREFIX = "/models/:model";

/** Routes that are described, and offered to callers of unknown ones. */
export const shownRoutes: readonly TableRoute[] = [...versionedRoutes, ...rootRoutes].filter(
  ({ isInternal }) => !isInternal,
);
