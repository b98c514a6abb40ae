import { answering } from "./answering.ts";

const answer = answering((message, buffers) => self.postMessage(message, { transfer: buffers }));
self.onmessage = ({ data }) => answer(data);
