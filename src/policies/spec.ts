import { isObject } from '../util/values.js'
/** What happens to the units in use when the numbers of a limit change. */
export type OnChange = 'keep' | 'reset'

/**
 * What the specs of policies that count units have in common.
 * @inline
 */
interface CountingSpec {
  /** The most units that adjustments may leave owed. Default 0. */
  readonly debt?: number
  /** What happens to usage when the numbers change. Default `'keep'`. */
  readonly onChange?: OnChange
}

/**
 * The spec of a `quota`.
 * @inline
 */
interface QuotaSpec extends CountingSpec {
  readonly kind: 'quota'
  readonly limit: number
  readonly per: 'day' | 'week' | 'month' | 'year'
  readonly timeZone: string
  /** A weekday, a day of the month, or `MM-DD`. Absent if periods are days. */
  readonly startsOn?: string | number
}

/**
 * The spec of a policy that `ban` accepts.
 * @inline
 */
export type BaseSpec =
  | ({
      readonly kind: 'token-bucket'
      readonly capacity: number
      /** The time in which one token is refilled, as `bucketInterval` rounds it. */
      readonly intervalMs: number
    } & CountingSpec)
  | ({
      readonly kind: 'sliding-window'
      readonly limit: number
      readonly windowMs: number
      readonly slices: number
    } & CountingSpec)
  | ({ readonly kind: 'fixed-window'; readonly limit: number; readonly windowMs: number } & CountingSpec)
  | ({
      readonly kind: 'first-request-window'
      readonly limit: number
      readonly windowMs: number
    } & CountingSpec)
  | QuotaSpec
  | {
      readonly kind: 'sliding-log'
      readonly limit: number
      readonly windowMs: number
      readonly onChange?: OnChange
    }
  | { readonly kind: 'consecutive'; readonly limit: number; readonly onChange?: OnChange }

/**
 * The spec of a `ban`.
 * @inline
 */
export interface BanSpec {
  readonly kind: 'ban'
  /** The spec of the policy whose denials count. */
  readonly base: BaseSpec
  /** How many denials start a ban. 0 = they do not count, but the bans in a state still deny. */
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

/** The kind of a policy. A ban has the kind of the policy whose denials it counts. */
export type KindName = BaseSpec['kind'] | `ban-${BaseSpec['kind']}` | 'concurrency'

/** Returns the kind of a spec. */
export function kindOf(spec: PolicySpec): KindName {
  return spec.kind === 'ban' ? `ban-${spec.base.kind}` : spec.kind
}

/**
 * For each kind, its code in keys, and the names of its numbers in the order of signatures. The code is short
 * because every client's key contains it.
 */
export const KINDS: Readonly<Record<string, string>> = {
  'token-bucket': 'tb capacity intervalMs debt onChange',
  'sliding-window': 'sw limit windowMs slices debt onChange',
  'fixed-window': 'fw limit windowMs debt onChange',
  'first-request-window': 'rw limit windowMs debt onChange',
  quota: 'qt limit debt onChange',
  'sliding-log': 'sl limit windowMs onChange',
  consecutive: 'cs limit onChange',
  concurrency: 'cc limit ttlMs',
} satisfies Record<Exclude<PolicySpec['kind'], 'ban'>, string>

/** The code that comes before the base policy's code in the key of a ban. */
const BAN_CODE = 'b'

/** The number of slices of `ttl` in which `concurrency` counts units. */
export const TTL_SLICES = 8

/** The values of `onChange`. A signature contains the index of the value. */
const ON_CHANGE: readonly OnChange[] = ['keep', 'reset']
/** The fields that a spec may leave out. */
const OPTIONAL: readonly string[] = ['debt', 'onChange']

/**
 * Returns a string that identifies a spec: its kind and its numbers. Optional numbers at the end are left out if
 * they are 0. The periods of a quota come last: `quota-10000@month-15@Europe/Berlin`.
 */
export function signatureOfSpec(spec: PolicySpec): string {
  if (spec.kind === 'ban') {
    const { base, after, withinMs, onAttempt, bansMs } = spec
    return ['ban', signatureOfSpec(base), after, withinMs, onAttempt, ...bansMs].join('-')
  }
  const names = fieldsOf(spec.kind, spec)
  const numbers = numbersOf(spec, names)
  while (OPTIONAL.includes(names[numbers.length - 1] ?? '') && numbers.at(-1) === 0) numbers.pop()
  const text = [spec.kind, ...numbers.map(plainNumber)].join('-')
  return spec.kind === 'quota' ? `${text}@${periodsText(spec)}` : text
}

function periodsText({ per, startsOn, timeZone }: QuotaSpec): string {
  return `${startsOn === undefined ? per : `${per}-${startsOn}`}@${timeZone}`
}

/** Returns a number as digits, because an exponent contains `-`, the separator of signatures. */
function plainNumber(value: number): string {
  const text = String(value)
  return text.includes('e-') ? value.toFixed(60).replace(/0+$/, '') : text
}

/**
 * Returns the part of a key that says which states it can have: the kind of its policy, and the numbers that a
 * state depends on. A state has no other numbers, so usage survives their change. With `onChange: 'reset'`,
 * all numbers are part of the key.
 */
export function keyCodeOf(spec: PolicySpec): string {
  const base = baseOf(spec)
  const code = (spec.kind === 'ban' ? BAN_CODE : '') + codeOf(base.kind)
  if (resetsOnChange(spec)) return `${code}-${signatureOfSpec(base)}`
  if (base.kind === 'sliding-window') return `${code}-${base.windowMs}-${base.slices}`
  return base.kind === 'concurrency' ? `${code}-${base.ttlMs}` : code
}

/** The numbers that follow the code of a kind in keys, unless all numbers do. */
const KEY_NUMBERS: Readonly<Record<string, readonly string[]>> = {
  'sliding-window': ['windowMs', 'slices'],
  concurrency: ['ttlMs'],
}

/** What the code in a key says of a policy. */
interface KeyCode {
  readonly kind: string
  readonly isBan: boolean
  /** The numbers that a state depends on. */
  readonly numbers: Readonly<Record<string, number>>
}

/** Reads a code that `keyCodeOf` returned. Returns `undefined` for any other text. */
export function readKeyCode(text: string): KeyCode | undefined {
  const [code = ''] = text.split('-', 1)
  const isBan = code.startsWith(BAN_CODE)
  const baseCode = isBan ? code.slice(BAN_CODE.length) : code
  const kind = Object.keys(KINDS).find((each) => codeOf(each) === baseCode)
  if (kind === undefined || (isBan && kind === 'concurrency')) return undefined
  const rest = text.slice(code.length)
  const needed = KEY_NUMBERS[kind] ?? []
  const resets = rest.startsWith(`-${kind}-`)
  if (!resets && !new RegExp(`^(-\\d+){${needed.length}}$`).test(rest)) return undefined
  const names = resets ? fieldsOf(kind, {}) : needed
  const values = rest.slice(resets ? kind.length + 2 : 1).split('-')
  const numbers = needed.map((name) => [name, Number(values[names.indexOf(name)])])
  return { kind, isBan, numbers: Object.fromEntries(numbers) }
}

/** Returns whether the usage under each set of numbers is counted separately. */
export function resetsOnChange(spec: PolicySpec): boolean {
  const base = baseOf(spec)
  return 'onChange' in base && base.onChange === 'reset'
}

function numbersOf(spec: object, names: readonly string[]): number[] {
  const values: Readonly<Record<string, unknown>> = { ...spec }
  return names.map((name) => numberOf(name, values[name]))
}

function numberOf(name: string, value: unknown): number {
  if (typeof value === 'number') return value
  if (name === 'onChange') return Math.max(0, ON_CHANGE.indexOf(value as OnChange))
  return OPTIONAL.includes(name) && value === undefined ? 0 : Number.NaN
}

/** Returns the code of a kind in keys. */
function codeOf(kind: string): string {
  return wordsOf(kind)?.[0] ?? kind
}

/**
 * Returns the names of a kind's numbers in their fixed order. For an unknown kind, that is the spec's order.
 */
function fieldsOf(kind: string, spec: object): readonly string[] {
  return wordsOf(kind)?.slice(1) ?? Object.keys(spec).filter((name) => name !== 'kind')
}

function wordsOf(kind: string): readonly string[] | undefined {
  return Object.hasOwn(KINDS, kind) ? KINDS[kind]?.split(' ') : undefined
}

/** Returns the spec of a ban's base policy, or of any other policy itself. */
export function baseOf(spec: PolicySpec): Exclude<PolicySpec, BanSpec> {
  return spec.kind === 'ban' ? spec.base : spec
}

/** Returns whether a value is a spec: a kind, its numbers, and the periods of a quota. */
export function isSpec(value: unknown): value is PolicySpec {
  if (!isObject(value)) return false
  const { kind, ...fields }: Readonly<Record<string, unknown>> = { ...value }
  if (kind === 'ban') return isSpec(fields.base)
  if (typeof kind !== 'string') return false
  if (kind === 'quota' && !(typeof fields.per === 'string' && typeof fields.timeZone === 'string'))
    return false
  return fieldsOf(kind, fields).every((name) => OPTIONAL.includes(name) || typeof fields[name] === 'number')
}
