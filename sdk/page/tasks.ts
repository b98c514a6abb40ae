import type { Answers } from "./answers.ts";
import { showClassification } from "./classification.ts";
import type { Info } from "./connection.ts";
import { element } from "./elements.ts";
import type { Requests } from "./requests.ts";
import { byReranker, byVectors, showSearch } from "./search.ts";
import { showSimilarity } from "./similarity.ts";
import { textIndex } from "./text-index.ts";

export interface TaskContext {
  readonly info: Info;
  readonly requests: Requests;
  /** The model that the user has chosen: that of the deployment, or the one in this browser. */
  readonly answers: () => Answers;
}

/** Shows the parts of the page that the deployment's model can do. */
export function showTasks(context: TaskContext): void {
  const { task, model_type } = context.info;
  if (task === "embed") {
    const index = textIndex(context.info, context.requests, context.answers);
    showSearch(context, byVectors(context, index));
    showSimilarity(context, index);
  } else if ("reranker" in model_type) showSearch(context, byReranker(context));
  else if (task === "classify") showClassification(context);
  else {
    const note = element("other-task", HTMLElement);
    note.hidden = false;
    note.textContent = `This page has no form for the task ${task}. HTTP routes, above, lists its route.`;
  }
}
