import { ban } from '../../policies/ban.js'
import { fixedWindow } from '../../policies/fixed-window.js'
import type { Policy } from '../../policies/policy.js'
import { LONG, LONG_KINDS } from '../conformance/sample-policies.js'
import type { Parts } from '../conformance/store-calls.js'

/** A part as it is sent to a process: policies are functions, and travel by name. */
export interface WirePart {
  readonly key: string
  /** The name of a policy in `LONG_KINDS`, or `'ban'`. */
  readonly policy: string
  readonly limit: number
  readonly cost: number
  /** Of a ban: how many denials start it. */
  readonly after?: number
}

/** The charges that a process makes: several callers at once, each one call after the other. */
export interface Load {
  /** Each caller takes them in turn, from the first, the second, … on. */
  readonly charges: readonly (readonly WirePart[])[]
  readonly callers: number
  /** How many calls of the store each caller makes. */
  readonly calls: number
  /** How many charges each call has. */
  readonly batch: number
  /** One in this many allowed charges of a caller is refunded at once; 0 for none. */
  readonly refundEvery: number
}

export interface Counts {
  readonly allowed: number
  readonly denied: number
  /** By key: the units that were allowed, less those that were refunded. */
  readonly taken: Readonly<Record<string, number>>
}

export interface WireFigures {
  readonly remaining: number
  /** `null` if time restores nothing. */
  readonly moreAfterMs: number | null
}

/** What the parent has a process do, and what it replies. */
export interface Orders {
  load: { readonly order: Load; readonly reply: Counts }
  peek: { readonly order: readonly WirePart[]; readonly reply: readonly WireFigures[] }
  forget: { readonly order: readonly WirePart[]; readonly reply: null }
}

interface RequestOf<N extends keyof Orders> {
  readonly headgate: N
  readonly id: number
  readonly order: Orders[N]['order']
}

/** A message to a process: an order. Its name tells it apart from other orders. */
export type Request = { [N in keyof Orders]: RequestOf<N> }[keyof Orders]

/** From a process: that it serves a store, an outcome, or what ends it. */
export type Message =
  | { readonly headgate: 'ready' }
  | { readonly headgate: 'reply'; readonly id: number; readonly reply: unknown }
  | { readonly headgate: 'failure'; readonly text: string }

/** A ban that outlasts every window. */
const BAN = '3000d'

export function policyOf({ policy, limit, after = 1 }: WirePart): Policy {
  if (policy === 'ban') return ban(fixedWindow({ limit, window: LONG }), { after, within: LONG, for: BAN })
  const [, make] = LONG_KINDS.find(([name]) => name === policy) ?? []
  if (make === undefined)
    throw new Error(
      `There is no policy ${policy}: the test and the process use different versions of headgate.`,
    )
  return make(limit)
}

export function chargeOf(parts: readonly WirePart[]): Parts {
  return parts.map((part) => ({ key: part.key, policy: policyOf(part), cost: part.cost }))
}
