import { builtin, inspect } from '../platform.js'
import { isEqual } from './is-equal.js'

/**
 * Throws an `AssertionError` unless two values are deeply and strictly equal. Its message begins with `what`
 * was expected, in which case, and shows the difference.
 */
export function expectEqual(what: string, actual: unknown, expected: unknown): void {
  if (isEqual(actual, expected)) return
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
): Error {
  const { AssertionError } = builtin<typeof import('node:assert')>('node:assert') ?? {}
  if (AssertionError === undefined) {
    const message = `${what}\n${inspect(actual)} ${operator} ${inspect(expected)}`
    return Object.assign(new Error(message), { name: 'AssertionError', actual, expected })
  }
  const { message } = new AssertionError({ actual, expected, operator })
  return new AssertionError({
    message: `${what}\n${message}`,
    actual,
    expected,
    operator: operator === 'deepStrictEqual' ? 'equal' : operator, // Node.js 20 adds its difference to a message
    stackStartFn,
  })
}
