import { AssertionError } from 'node:assert'
import { isDeepStrictEqual } from 'node:util'

/**
 * Throws an `AssertionError` unless two values are deeply and strictly equal. Its message begins with `what`
 * was expected, in which case, and shows the difference.
 */
export function expectEqual(what: string, actual: unknown, expected: unknown): void {
  if (isDeepStrictEqual(actual, expected)) return
  throw failure(what, actual, expected, 'deepStrictEqual', expectEqual)
}

/**
 * Throws unless `actual` equals `expected` in every property that `expected` names. Arrays must have the same
 * length.
 */
export function expectMatch(what: string, actual: unknown, expected: unknown): void {
  const projected = project(actual, expected)
  if (isDeepStrictEqual(projected, expected)) return
  throw failure(what, projected, expected, 'deepStrictEqual', expectMatch)
}

export function expectAtLeast(what: string, actual: unknown, least: number): void {
  if (typeof actual === 'number' && actual >= least) return
  throw failure(what, actual, least, '>=', expectAtLeast)
}

export function expectAtMost(what: string, actual: unknown, most: number): void {
  if (typeof actual === 'number' && actual <= most) return
  throw failure(what, actual, most, '<=', expectAtMost)
}

type Operator = 'deepStrictEqual' | '>=' | '<='

function failure(
  what: string,
  actual: unknown,
  expected: unknown,
  operator: Operator,
  stackStartFn: (what: string, actual: unknown, expected: number) => void,
): AssertionError {
  const { message } = new AssertionError({ actual, expected, operator })
  return new AssertionError({
    message: `${what}\n${message}`,
    actual,
    expected,
    operator: operator === 'deepStrictEqual' ? 'equal' : operator, // Node.js 20 adds its difference to a message
    stackStartFn,
  })
}

/** Returns of `actual` what `shape` names; all of it where it has another form. */
function project(actual: unknown, shape: unknown): unknown {
  if (typeof actual !== 'object' || typeof shape !== 'object' || actual === null || shape === null)
    return actual
  if (Array.isArray(shape))
    return Array.isArray(actual) ? actual.map((each, i) => project(each, shape[i])) : actual
  const properties = actual as Readonly<Record<string, unknown>>
  const named = Object.entries(shape).map(([name, part]) => [name, project(properties[name], part)])
  return Object.fromEntries(named)
}
