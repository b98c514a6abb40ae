import * as v from "valibot";
import { ErrorBody } from "../contract/errors.ts";
import { type Dialect, inOneSentence } from "../routes/dialect.ts";
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

/** The interface of bert-edge itself. */
export const own: Dialect = {
  id: "own",
  name: "bert-edge",
  routes: [
    answerRoute,
    classifyRoute,
    embedRoute,
    fillMaskRoute,
    outputsRoute,
    similarityRoute,
    sparseRoute,
    tagRoute,
    tokenVectorsRoute,
    zeroShotRoute,
  ],
  below: "/v1/jobs/",
  errorBody: ErrorBody,
  writeError: ({ code, message, hint, index }) => ({ body: { error: { code, message, hint, index } } }),
};

/** Jina: https://jina.ai/reranker. Its clients show the text `detail` of an error. */
export const jina: Dialect = {
  id: "jina",
  name: "Jina",
  routes: [rerankRoute],
  errorBody: v.object({ ...ErrorBody.entries, detail: v.string() }),
  writeError: (error) => ({ body: { ...own.writeError(error).body, detail: inOneSentence(error) } }),
};
