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
