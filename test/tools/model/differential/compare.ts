import type { Result } from 'headgate/store'
import type { Expected, ExpectedPart } from '../reference/model-store.js'

/** Times are doubles of about 2^40 ms, whose spacing is 1/4096 ms. */
const GRID_MS = 1 / 4096

/**
 * Returns the first figure that differs, as text; `undefined` if the result is the expected one.
 * `toleranceMs` is how far times may be apart. If the time of an earlier operation is unknown (`isUntimed`),
 * a unit may have come back just before or after it was expected, so `remaining` may differ by 1.
 */
export function differenceOf(
  expected: Expected,
  result: Result,
  toleranceMs = 0,
  isUntimed = false,
): string | undefined {
  if (isUntimed && isOneUnitApart(expected, result, toleranceMs)) return undefined
  if (expected.type !== result.type) return `type is ${result.type}, not ${expected.type}`
  if (expected.type !== 'charge' || result.type !== 'charge')
    return firstDifference('', expected, result, toleranceMs)
  if (expected.allowed !== result.allowed) return `allowed is ${result.allowed}, not ${expected.allowed}`
  if (expected.parts.length !== result.parts.length) return `there are ${result.parts.length} parts`
  for (const [i, part] of expected.parts.entries()) {
    const difference = partDifference(`parts[${i}].`, part, result.parts[i] as object, toleranceMs)
    if (difference !== undefined) return difference
  }
  return undefined
}

function partDifference(
  path: string,
  { isBound, ...part }: ExpectedPart,
  got: object,
  toleranceMs: number,
): string | undefined {
  if (!isBound) return firstDifference(path, part, got, toleranceMs)
  const { retryAfterMs, ...exact } = part
  const { retryAfterMs: gotMs } = got as ExpectedPart
  const isLower = gotMs <= retryAfterMs + toleranceMs + GRID_MS
  return isLower
    ? firstDifference(path, exact, got, toleranceMs)
    : `${path}retryAfterMs is ${gotMs}, over ${retryAfterMs}`
}

function firstDifference(
  path: string,
  expected: object,
  got: object,
  toleranceMs: number,
): string | undefined {
  for (const [name, value] of Object.entries(expected)) {
    const gotValue = (got as Readonly<Record<string, unknown>>)[name]
    const isTime = name.endsWith('Ms')
    if (isTime ? isNear(value, gotValue as number, toleranceMs) : value === gotValue) continue
    return `${path}${name} is ${String(gotValue)}, not ${String(value)}`
  }
  return undefined
}

function isOneUnitApart(expected: Expected, result: Result, toleranceMs: number): boolean {
  if (!('remaining' in expected && 'remaining' in result)) return false
  if (expected.type === 'take' && result.type === 'take' && expected.taken !== result.taken) return false
  const isFullAlike = isNear(expected.resetAfterMs, result.resetAfterMs, toleranceMs)
  return isFullAlike && Math.abs(expected.remaining - result.remaining) === 1
}

function isNear(a: number, b: number, toleranceMs: number): boolean {
  return a === b || Math.abs(a - b) <= toleranceMs + GRID_MS
}
