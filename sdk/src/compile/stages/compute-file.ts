import { type Engine, type EngineSession, oneModel } from "../../runtime/engine/engine.ts";
import type { TextModel } from "../model/text-model.ts";

/** What a model's file makes of texts on an engine. */
export const computeFile = (
  model: Pick<TextModel, "compute">,
  engine: Engine,
  file: Uint8Array<ArrayBuffer>,
  texts: readonly string[],
): Promise<Float32Array[]> => withSession(engine, file, (session) => model.compute(session, texts));

/** What `work` makes of a file's session, which is released after it. */
export async function withSession<T>(
  engine: Engine,
  file: Uint8Array<ArrayBuffer>,
  work: (session: EngineSession) => Promise<T>,
): Promise<T> {
  const session = await engine.load(oneModel(file));
  try {
    return await work(session);
  } finally {
    await session.release();
  }
}
