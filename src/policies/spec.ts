/**
 * The spec of a policy that `ban` accepts.
 * @inline
 */
export type BaseSpec =
  | {
      readonly kind: 'token-bucket'
      readonly capacity: number
      /** The time in which one token is refilled, a multiple of 1/4096 ms. */
      readonly intervalMs: number
    }
  | {
      readonly kind: 'sliding-window'
      readonly limit: number
      readonly windowMs: number
      readonly slices: number
    }
  | { readonly kind: 'fixed-window'; readonly limit: number; readonly windowMs: number }
  | { readonly kind: 'first-request-window'; readonly limit: number; readonly windowMs: number }
  | { readonly kind: 'consecutive'; readonly limit: number }

/**
 * The spec of a `ban`.
 * @inline
 */
export interface BanSpec {
  readonly kind: 'ban'
  /** The spec of the policy whose denials count. */
  readonly base: BaseSpec
  readonly after: number
  readonly withinMs: number
  /** How long each ban in a row lasts; the last one repeats. */
  readonly bansMs: readonly number[]
  readonly onAttempt: 'nothing' | 'restart'
}

/**
 * An algorithm and its numbers as plain data that survives JSON. Policies with equal specs decide alike. A
 * spec leaves out the name, because it does not affect decisions.
 */
export type PolicySpec =
  | BaseSpec
  | BanSpec
  | { readonly kind: 'concurrency'; readonly limit: number; readonly ttlMs: number }

/** A spec flattened to its kind and numbers in a fixed order, for signatures and scripts. */
export interface FlatSpec {
  readonly kind: BaseSpec['kind'] | `ban-${BaseSpec['kind']}` | 'concurrency'
  readonly params: readonly number[]
}

/** The names of each kind's numbers, in the order of signatures and scripts. */
export const FIELDS: Readonly<Record<string, readonly string[]>> = {
  'token-bucket': ['capacity', 'intervalMs'],
  'sliding-window': ['limit', 'windowMs', 'slices'],
  'fixed-window': ['limit', 'windowMs'],
  'first-request-window': ['limit', 'windowMs'],
  consecutive: ['limit'],
  concurrency: ['limit', 'ttlMs'],
} satisfies Record<Exclude<PolicySpec['kind'], 'ban'>, readonly string[]>

/** A ban's params begin with those of its base policy, padded with 0 to this length. */
const BASE_PARAMS = 3

/**
 * How many slices `concurrency` divides `ttl` into to count units. It is the last of its params, because
 * states depend on it.
 */
export const TTL_SLICES = 8

export function flattenSpec(spec: PolicySpec): FlatSpec {
  if (spec.kind === 'ban') {
    const params = numbersOf(spec.base)
    const padded = [...params, 0, 0, 0].slice(0, Math.max(BASE_PARAMS, params.length))
    const restarts = spec.onAttempt === 'restart' ? 1 : 0
    const banParams = [spec.after, spec.withinMs, restarts, ...spec.bansMs]
    return { kind: `ban-${spec.base.kind}`, params: [...padded, ...banParams] }
  }
  const params = numbersOf(spec)
  return { kind: spec.kind, params: spec.kind === 'concurrency' ? [...params, TTL_SLICES] : params }
}

function numbersOf({ kind, ...rest }: Exclude<PolicySpec, BanSpec>): readonly number[] {
  const numbers: Readonly<Record<string, number>> = rest
  return fieldsOf(kind, numbers).map((name) => numbers[name] ?? Number.NaN)
}

/** Returns the names of a kind's numbers in their fixed order. An unknown kind keeps the given order. */
function fieldsOf(kind: string, numbers: object): readonly string[] {
  const fields = Object.hasOwn(FIELDS, kind) ? FIELDS[kind] : undefined
  return fields ?? Object.keys(numbers)
}

/**
 * Returns the spec that was flattened; `undefined` for an unknown kind. Missing numbers become `NaN`, and
 * surplus ones are dropped.
 */
export function expandSpec(kind: string, params: readonly number[]): PolicySpec | undefined {
  if (kind === 'concurrency') {
    const [limit = NaN, ttlMs = NaN] = params
    return { kind, limit, ttlMs }
  }
  if (!kind.startsWith('ban-')) return expandBase(kind, params)
  const base = expandBase(kind.slice('ban-'.length), params)
  const [after = NaN, withinMs = NaN, restarts, ...bansMs] = params.slice(BASE_PARAMS)
  const onAttempt = restarts === 1 ? 'restart' : 'nothing'
  return base && { kind: 'ban', base, after, withinMs, bansMs, onAttempt }
}

function expandBase(
  kind: string,
  [first = NaN, second = NaN, third = NaN]: readonly number[],
): BaseSpec | undefined {
  switch (kind) {
    case 'token-bucket':
      return { kind, capacity: first, intervalMs: second }
    case 'sliding-window':
      return { kind, limit: first, windowMs: second, slices: third }
    case 'fixed-window':
    case 'first-request-window':
      return { kind, limit: first, windowMs: second }
    case 'consecutive':
      return { kind, limit: first }
    default:
      return undefined
  }
}

/** Returns the spec of a ban's base policy, or of any other policy itself. */
export function baseOf(spec: PolicySpec): Exclude<PolicySpec, BanSpec> {
  return spec.kind === 'ban' ? spec.base : spec
}

/** Returns whether a value is a spec: a kind, and numbers. */
export function isSpec(value: unknown): value is PolicySpec {
  if (typeof value !== 'object' || value === null) return false
  const { kind, ...numbers }: Readonly<Record<string, unknown>> = { ...value }
  if (kind === 'ban') return isSpec(numbers.base)
  if (typeof kind !== 'string') return false
  return fieldsOf(kind, numbers).every((name) => typeof numbers[name] === 'number')
}
