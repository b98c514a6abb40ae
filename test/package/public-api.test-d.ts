// Expectations about the types that users see. `npm run check:types` checks them; nothing here runs.
import { BertEdgeError, type ErrorCode, loadModel } from "bert-edge";
import type { BertEdge, BertEdgeClientError, ClientErrorCode } from "bert-edge/client";
import { ortNodeEngine } from "bert-edge/engine/ort-node";
import type { Engine } from "bert-edge/engine/wasm";
import { type ObjectStore, r2Store } from "bert-edge/storage/r2";
import { expectTypeOf } from "vitest";

expectTypeOf(loadModel).parameter(0).extract<string>().toEqualTypeOf<string>();
const model = await loadModel("./artifact");
expectTypeOf((await model.embed("to be")).embeddings).toEqualTypeOf<Float32Array<ArrayBuffer>[]>();
expectTypeOf<Awaited<ReturnType<typeof loadModel>>>().toExtend<AsyncDisposable>();
expectTypeOf(ortNodeEngine).returns.toEqualTypeOf<Engine>();
expectTypeOf(r2Store).returns.toEqualTypeOf<ObjectStore>();

expectTypeOf<BertEdgeError["code"]>().toEqualTypeOf<ErrorCode>();
expectTypeOf<"artifact_missing">().toExtend<ErrorCode>();
// @ts-expect-error: a code that is not in the table of error-codes.ts
new BertEdgeError("no_such_code", "…");

expectTypeOf<BertEdge["embed"]>().parameter(0).toEqualTypeOf<string | readonly string[]>();
expectTypeOf<BertEdgeClientError["code"]>().toEqualTypeOf<ClientErrorCode>();
