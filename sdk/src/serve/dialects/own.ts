import { ErrorBody } from "../contract/errors.ts";
import { type Dialect, taskAt } from "../routes/dialect.ts";
import { answerRoute } from "../tasks/answer.ts";
import { classifyRoute } from "../tasks/classify.ts";
import { embedRoute } from "../tasks/embed.ts";
import { fillMaskRoute } from "../tasks/fill-mask.ts";
import { outputsRoute } from "../tasks/outputs.ts";
import { rerankRoute } from "../tasks/rerank.ts";
import { similarityRoute } from "../tasks/similarity.ts";
import { sparseRoute } from "../tasks/sparse.ts";
import { tagRoute } from "../tasks/tag.ts";
import { tokenVectorsRoute } from "../tasks/token-vectors.ts";
import { zeroShotRoute } from "../tasks/zero-shot.ts";

/** Our own interface. `/v1/rerank` is Jina's. */
export const own: Dialect = {
  id: "own",
  name: "bert-edge",
  routes: [
    taskAt("/v1/answer", answerRoute),
    taskAt("/v1/classify", classifyRoute),
    taskAt("/v1/embed", embedRoute),
    taskAt("/v1/fill-mask", fillMaskRoute),
    { ...taskAt("/v1/outputs", outputsRoute), isInternal: true },
    taskAt("/v1/rerank", rerankRoute),
    taskAt("/v1/similarity", similarityRoute),
    taskAt("/v1/sparse", sparseRoute),
    taskAt("/v1/tag", tagRoute),
    taskAt("/v1/token-vectors", tokenVectorsRoute),
    taskAt("/v1/zero-shot", zeroShotRoute),
  ],
  errorBody: ErrorBody,
  writeError: ({ code, message, hint, index }) => ({
    body: {
      error: { code, message, ...(hint !== undefined && { hint }), ...(index !== undefined && { index }) },
    } satisfies ErrorBody,
  }),
};
