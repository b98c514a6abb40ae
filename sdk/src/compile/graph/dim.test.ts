import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seeded } from "#test/fixtures/seeded.ts";
import {
  add,
  type Dim,
  divideExactly,
  floorDiv,
  isNonNegative,
  isStatic,
  MAX_LENGTH,
  max,
  min,
  mul,
  product,
  sameDim,
  sameShape,
  sub,
  substitute,
  symbol,
  symbolOf,
  symbolsOf,
} from "./dim.ts";

/** Far apart, so that different polynomials of small degree and coefficients are different numbers there. */
const POINT: Readonly<Record<string, bigint>> = { a: 1_000_003n, b: 2n ** 61n - 1n, seq_len: 2n ** 521n - 1n };
const NAMES = Object.keys(POINT);

/** Sizes that models are run with: no tensor that is computed with is empty. */
const sizes = fc.record(Object.fromEntries(NAMES.map((name) => [name, fc.integer({ min: 1, max: 5 })])));
type Sizes = Readonly<Record<string, number>>;

/** The number that a size is; 0, not -0. */
const at = (dim: Dim, numbers: Sizes): number => Number(substitute(dim, (name) => numbers[name] ?? Number.NaN)) + 0;

/** A polynomial, and the number that it is at POINT. */
interface Expression {
  readonly dim: Dim;
  readonly exact: bigint;
}
const leaf: fc.Arbitrary<Expression> = fc.oneof(
  fc.integer({ min: -4, max: 4 }).map((n) => ({ dim: n, exact: BigInt(n) })),
  fc.constantFrom(...NAMES).map((name) => ({ dim: symbol(name), exact: POINT[name] as bigint })),
);
const operation = fc.constantFrom<(x: Expression, y: Expression) => Expression>(
  (x, y) => ({ dim: add(x.dim, y.dim), exact: x.exact + y.exact }),
  (x, y) => ({ dim: sub(x.dim, y.dim), exact: x.exact - y.exact }),
  (x, y) => ({ dim: mul(x.dim, y.dim), exact: x.exact * y.exact }),
);
const { expression } = fc.letrec<{ expression: Expression }>((tie) => ({
  expression: fc.oneof(
    { maxDepth: 3 },
    leaf,
    fc.tuple(operation, tie("expression"), tie("expression")).map(([apply, x, y]) => apply(x, y)),
  ),
}));
const polynomial = expression.map(({ dim }) => dim);
/** Polynomials over functions of polynomials. */
const anyDim = fc.oneof(
  polynomial,
  fc
    .tuple(polynomial, polynomial, polynomial, fc.constantFrom(max, min, floorDiv))
    .map(([a, b, c, apply]) => add(apply === floorDiv ? floorDiv(a, 7) : apply(a, b), c)),
);

const [a, b] = [symbol("a"), symbol("b")];

describe("sizes", () => {
  it("obey the laws of a ring, by their keys", () => {
    fc.assert(
      fc.property(polynomial, polynomial, polynomial, (x, y, z) => {
        const same = (left: Dim, right: Dim) => expect(`${left}`).toBe(`${right}`);
        same(add(x, y), add(y, x));
        same(add(add(x, y), z), add(x, add(y, z)));
        same(mul(x, y), mul(y, x));
        same(mul(mul(x, y), z), mul(x, mul(y, z)));
        same(mul(x, add(y, z)), add(mul(x, y), mul(x, z)));
        same(add(x, 0), x);
        same(mul(x, 1), x);
        expect(sub(x, x)).toBe(0);
        expect(mul(x, 0)).toBe(0);
      }),
      seeded(500),
    );
  });

  it("are the numbers that they stand for, whatever they are computed with", () => {
    fc.assert(
      fc.property(anyDim, anyDim, sizes, (x, y, numbers) => {
        const [p, q] = [at(x, numbers), at(y, numbers)];
        expect(at(add(x, y), numbers)).toBe(p + q);
        expect(at(sub(x, y), numbers)).toBe(p - q);
        expect(at(mul(x, y), numbers)).toBe(p * q + 0);
        expect(at(max(x, y), numbers)).toBe(Math.max(p, q));
        expect(at(min(x, y), numbers)).toBe(Math.min(p, q));
        if (q !== 0) expect(at(floorDiv(x, y), numbers)).toBe(Math.floor(p / q) + 0);
      }),
      seeded(1_000),
    );
  });

  it("have equal keys exactly when they are equal polynomials", () => {
    fc.assert(
      fc.property(expression, expression, (x, y) => {
        expect(sameDim(x.dim, y.dim)).toBe(x.exact === y.exact);
        expect(`${x.dim}` === `${y.dim}`).toBe(x.exact === y.exact);
      }),
      seeded(5_000),
    );
  });

  it("are said to be non-negative only if they are", () => {
    fc.assert(
      fc.property(anyDim, sizes, (x, numbers) => {
        if (isNonNegative(x)) expect(at(x, numbers)).toBeGreaterThanOrEqual(0);
      }),
      seeded(2_000),
    );
  });

  it.each<[Dim, boolean]>([
    [0, true],
    [-1, false],
    [add(a, 3), true],
    [sub(a, 1), false],
    [max(sub(a, 9), 1), true],
    [min(sub(a, 9), b), false],
    [min(a, b), true],
    [floorDiv(sub(a, 9), 2), false],
    [floorDiv(add(a, 1), 2), true],
  ])("%s is non-negative for all sizes: %s", (dim, expected) => {
    expect(isNonNegative(dim)).toBe(expected);
  });

  it("divide exactly where the quotient is a polynomial", () => {
    fc.assert(
      fc.property(polynomial, fc.constantFrom<Dim>(1, 3, -2, a, mul(a, b), mul(2, b)), (x, divisor) => {
        const quotient = divideExactly(mul(x, divisor), divisor);
        expect(`${quotient}`).toBe(`${x}`);
        expect(`${floorDiv(mul(x, divisor), divisor)}`).toBe(`${x}`);
      }),
      seeded(300),
    );
    expect(divideExactly(add(a, 1), 2)).toBeUndefined();
    expect(divideExactly(add(a, b), a)).toBeUndefined();
    expect(divideExactly(mul(6, a), 4)).toBeUndefined();
    expect(divideExactly(a, 0)).toBeUndefined();
    expect(divideExactly(add(a, 1), add(a, 1))).toBe(1);
  });

  it("are written as people write them", () => {
    expect(`${add(mul(2, mul(b, a)), sub(a, 3))}`).toBe("-3+a+2*a*b");
    expect(`${max(a, sub(b, 1))}`).toBe("max(-1+b,a)");
    expect(`${floorDiv(a, 2)}`).toBe("floordiv(a,2)");
    expect(sub(add(a, 2), a)).toBe(2);
  });

  it("take a larger one where that is clear, and a function where it is not", () => {
    expect(max(add(a, 1), a)).toEqual(add(a, 1));
    expect(min(add(a, 1), a)).toEqual(a);
    expect(max(3, 5)).toBe(5);
    expect(`${min(a, b)}`).toBe("min(a,b)");
  });

  it("do not grow without end when multiplied", () => {
    const sums = Array.from({ length: 60 }, (_, i) => add(symbol(`x${i}`), symbol(`y${i}`)));
    const all = product(sums);
    expect(`${all}`.length).toBeLessThan(sums.length * MAX_LENGTH);
    expect(substitute(all, () => 1)).toBe(2 ** 60);
  });

  it("name their symbols", () => {
    expect(symbolOf(a)).toBe("a");
    expect([mul(2, a), add(a, 1), mul(a, b), max(a, b), 4, undefined].map(symbolOf)).toEqual(Array(6).fill(undefined));
    expect(new Set(symbolsOf(add(mul(a, a), floorDiv(add(b, 1), symbol("c")))))).toEqual(new Set(["a", "b", "c"]));
    expect(symbolsOf(7)).toEqual([]);
  });

  it("take other sizes for their symbols", () => {
    const other = (name: string) => (name === "a" ? add(b, 1) : symbol(name));
    expect(`${substitute(mul(a, a), other)}`).toBe("1+2*b+b*b");
    expect(`${substitute(max(a, b), other)}`).toBe("1+b");
    expect(substitute(floorDiv(a, 2), () => 7)).toBe(3);
  });
});

describe("shapes", () => {
  it("are the same when all their sizes are", () => {
    expect(sameShape([a, 2], [symbol("a"), 2])).toBe(true);
    expect(sameShape([a, 2], [a, 3])).toBe(false);
    expect(sameShape([a], [a, 1])).toBe(false);
    expect(sameShape([], [])).toBe(true);
    expect(sameShape(undefined, undefined)).toBe(false);
    expect(sameDim(undefined, undefined)).toBe(false);
    expect(sameDim(2, symbol("2"))).toBe(false);
  });

  it("are static when all their sizes are numbers", () => {
    expect([[1, 2], [], [a], undefined].map(isStatic)).toEqual([true, true, false, false]);
  });
});
