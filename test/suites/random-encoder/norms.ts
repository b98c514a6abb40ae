import type { Value } from "../../../sdk/src/build/graph/node.ts";
import type { Sketch } from "../sketch.ts";
import type { NormForm } from "./plan.ts";

const EPSILON = 1e-5;
/** The first operator sets with LayerNormalization, and with axes of a mean as an input. */
const [OPSET_OF_OPERATOR, OPSET_OF_AXES] = [17, 18];

/** A layer normalisation over the last axis of [batch, sequence, width]. */
export function drawNorm(sketch: Sketch, opset: number, form: NormForm, x: Value, width: number): Value {
  const { op } = bound(sketch);
  const [gain, offset] = [sketch.random([width], 1), sketch.random([width])];
  const mean = (value: Value) =>
    opset < OPSET_OF_AXES ? op("ReduceMean", [value], { axes: [-1], keepdims: 1 }) : op("ReduceMean", [value, [-1]]);
  const deviation = (square: Value) => op("Sqrt", [op("Add", [mean(square), EPSILON])]);
  const average = mean(x);
  const centred = () => op("Sub", [x, average]);
  const scaled = (centre: Value, square: Value) =>
    op("Add", [op("Mul", [op("Div", [centre, deviation(square)]), gain]), offset]);
  switch (opset < OPSET_OF_OPERATOR && form === "operator" ? "power" : form) {
    case "operator":
      return op("LayerNormalization", [x, gain, offset], { axis: -1, epsilon: { float: EPSILON } });
    case "power": {
      const centre = centred();
      return scaled(centre, op("Pow", [centre, 2]));
    }
    case "product": {
      const centre = centred();
      return scaled(centre, op("Mul", [centre, centre]));
    }
    case "twice":
      return scaled(centred(), op("Pow", [centred(), 2]));
    case "tensorflow": {
      const centre = centred();
      const scale = op("Mul", [op("Reciprocal", [deviation(op("Mul", [centre, centre]))]), gain]);
      return op("Add", [op("Mul", [x, scale]), op("Sub", [offset, op("Mul", [average, scale])])]);
    }
  }
}

const bound = (sketch: Sketch) => ({ op: sketch.op.bind(sketch) });
