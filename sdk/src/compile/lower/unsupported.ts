import { BertEdgeError } from "../../artifact/error.ts";
import type { Node } from "../graph/node.ts";

/** @param reason clause that says why the edge engine cannot run the node */
export const unsupported = ({ opType, origin }: Node, reason: string): BertEdgeError =>
  refusal(`The edge engine cannot run ${opType} (node "${origin}"): ${reason}.`);

/** @param reason clause that says why the edge engine cannot run the model */
export const unsupportedModel = (reason: string): BertEdgeError =>
  refusal(`The edge engine cannot run this model: ${reason}.`);

const refusal = (message: string): BertEdgeError =>
  new BertEdgeError("engine_unsupported", message, {
    hint: "bert-edge prepare uses onnxruntime-web for the edge target instead. Report the model if the edge engine should run it.",
  });
