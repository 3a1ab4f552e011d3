import { type Decision, receiptOf, subjectOfKeys } from '../limiter/decision.js'
import type { NamedPart } from '../limiter/receipt.js'
import { markOf } from '../pipe/undecided-units.js'
import { type MaybePromise, thenMaybe } from '../util/maybe-promise.js'

/** The limits that tell how many failures an account has. */
const COUNTS = ['consecutive', 'account']

/** Returns how many attempts at the account were charged with a decision: the highest count of its limits. */
export function attemptsIn({ parts }: Decision): number {
  const ofAccount = parts.filter(({ name }) => COUNTS.includes(name))
  return Math.max(0, ...ofAccount.map(({ limit, remaining }) => limit - remaining))
}

/**
 * Returns how many failures the account of a decision has by now. Attempts in progress are none, whichever
 * process has them. An attempt may have taken long, and others may have failed since it was charged.
 */
export function failuresNow(decision: Decision): MaybePromise<number> {
  const { parts = [], apply } = receiptOf(decision) ?? {}
  const counted = parts.filter(({ name }) => COUNTS.includes(name)).map((part) => ({ ...part, cost: 0 }))
  if (apply === undefined || counted.length === 0) return 0
  const read = [...counted, ...counted.map(markOf)]
  return thenMaybe(apply({ type: 'charge', parts: read }), ({ parts: figures }) => {
    const used = read.map(({ policy: { limit } }, i) => limit - (figures[i]?.remaining ?? limit))
    return Math.max(0, ...counted.map((_, i) => (used[i] ?? 0) - (used[counted.length + i] ?? 0)))
  })
}

/** Returns what `forget` accepts for the marks of attempts in progress, whose units it forgets also. */
export function marksOf(decision: Decision, limits: readonly string[]): Record<string, unknown> {
  const parts = receiptOf(decision)?.parts ?? []
  const marked = parts.filter(({ name }) => limits.includes(name))
  return subjectOfKeys(marked.map((part): NamedPart => ({ ...part, ...markOf(part) })))
}
