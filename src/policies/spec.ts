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
export const FIELDS: Readonly<Record<Exclude<PolicySpec['kind'], 'ban'>, readonly string[]>> = {
  'token-bucket': ['capacity', 'intervalMs'],
  'sliding-window': ['limit', 'windowMs', 'slices'],
  'fixed-window': ['limit', 'windowMs'],
  'first-request-window': ['limit', 'windowMs'],
  consecutive: ['limit'],
  concurrency: ['limit', 'ttlMs'],
}

/** A ban's params begin with those of its base policy, padded with 0 to this length. */
const BASE_PARAMS = 3

/**
 * How many slices `concurrency` divides `ttl` into to count units. It is the last of its params, because
 * states depend on it.
 */
export const TTL_SLICES = 8

export function flattenSpec(spec: PolicySpec): FlatSpec {
  if (spec.kind === 'ban') {
    const { kind, params } = flattenSpec(spec.base)
    const padded = [...params, 0, 0, 0].slice(0, Math.max(BASE_PARAMS, params.length))
    const restarts = spec.onAttempt === 'restart' ? 1 : 0
    const banParams = [spec.after, spec.withinMs, restarts, ...spec.bansMs]
    return { kind: `ban-${kind as BaseSpec['kind']}`, params: [...padded, ...banParams] }
  }
  const params = numbersOf(spec) as readonly number[]
  return { kind: spec.kind, params: spec.kind === 'concurrency' ? [...params, TTL_SLICES] : params }
}

/**
 * Returns the numbers of a spec in their fixed order, or for an unknown kind in the order of its properties.
 */
function numbersOf({ kind, ...numbers }: Exclude<PolicySpec, BanSpec>): readonly unknown[] {
  const names = Object.hasOwn(FIELDS, kind) ? FIELDS[kind] : Object.keys(numbers)
  return names.map((name) => (numbers as Readonly<Record<string, unknown>>)[name])
}

/** Returns the spec that was flattened. Missing numbers become `NaN`, and surplus ones are dropped. */
export function expandSpec({ kind, params }: FlatSpec): PolicySpec {
  if (!kind.startsWith('ban-')) {
    const names = FIELDS[kind as keyof typeof FIELDS]
    const numbers = Object.fromEntries(names.map((name, i) => [name, params[i] ?? Number.NaN]))
    return { kind, ...numbers } as unknown as PolicySpec
  }
  const base = expandSpec({ kind: kind.slice('ban-'.length) as BaseSpec['kind'], params }) as BaseSpec
  const [after = NaN, withinMs = NaN, restarts, ...bansMs] = params.slice(BASE_PARAMS)
  return { kind: 'ban', base, after, withinMs, bansMs, onAttempt: restarts === 1 ? 'restart' : 'nothing' }
}

/** Returns the spec of a ban's base policy, or of any other policy itself. */
export function baseOf(spec: PolicySpec): Exclude<PolicySpec, BanSpec> {
  return spec.kind === 'ban' ? spec.base : spec
}

/** Returns whether a value is a spec: a kind, and numbers. */
export function isSpec(value: unknown): value is PolicySpec {
  if (typeof value !== 'object' || value === null) return false
  const spec = value as PolicySpec
  if (spec.kind === 'ban') return isSpec(spec.base)
  return typeof spec.kind === 'string' && numbersOf(spec).every((number) => typeof number === 'number')
}
