import type { Policy, State } from '../../policies/policy.js'
import { evaluateCharge } from '../shared/evaluate-charge.js'
import type { Charge, KeyedPolicy, Refund, Verdict } from '../store.js'
import type { Changes, Found, Row } from './dialect.js'
import { Unreadable } from './errors.js'
import { expiryS } from './expiry.js'
import { rowKey } from './row-key.js'

/** One of the things that a transaction can do. */
export type Work =
  | { readonly charge: Charge }
  | { readonly refund: Refund }
  | { readonly forget: KeyedPolicy }

/** The verdict of a charge, and nothing for the rest; or why it could not be done, and then it is not done at all. */
export type Result = Verdict | Error | undefined

function heldBy(work: Work): readonly KeyedPolicy[] {
  if ('charge' in work) return work.charge
  return 'refund' in work ? [work.refund] : [work.forget]
}

export function weightOf(work: Work): number {
  return 'charge' in work ? work.charge.length : 1
}

/** The keys of one, as they came. */
export function namesHeldBy(work: Work): readonly string[] {
  return heldBy(work).map(({ key }) => key)
}

/** The keys of all rows that the work needs, each once, in one order for all processes, so that they do not wait for each other in a circle. */
export function rowKeysOf(works: readonly Work[]): string[] {
  return [...new Set(works.flatMap((work) => heldBy(work).map(({ key }) => rowKey(key))))].sort()
}

/** Does the work in order on the rows that were found. */
export function doWork(
  works: readonly Work[],
  found: Found,
): { readonly results: readonly Result[]; readonly changes: Changes } {
  const after = new Map<string, { policy: Policy; state: State | undefined }>()
  const { states, nowMs } = found

  const read = (key: string): State | undefined => {
    const row = rowKey(key)
    const written = after.get(row)
    if (written !== undefined) return written.state
    const state = states.get(row)
    if (state === undefined && states.has(row)) throw new Unreadable()
    return state
  }

  function refund({ key, policy, cost, takenAtMs, resetAtMs }: Refund): void {
    const state = read(key)
    if (state === undefined) return
    after.set(rowKey(key), { policy, state: policy.refund(state, nowMs, cost, takenAtMs, resetAtMs) })
  }

  function doOne(work: Work): Result {
    if ('charge' in work) {
      const { verdict, writes } = evaluateCharge(work.charge, read, nowMs)
      for (const [key, write] of writes) after.set(rowKey(key), write)
      return verdict
    }
    if ('refund' in work) refund(work.refund)
    else after.set(rowKey(work.forget.key), { policy: work.forget.policy, state: undefined })
    return undefined
  }

  const results = works.map((work) => {
    try {
      return doOne(work)
    } catch (error) {
      return error as Error // of this one alone
    }
  })
  return { results, changes: changesOf(after, found) }
}

function changesOf(
  after: ReadonlyMap<string, { policy: Policy; state: State | undefined }>,
  { states, nowMs }: Found,
): Changes {
  const changed: Row[] = []
  const added: Row[] = []
  const removed: string[] = []
  for (const key of [...after.keys()].sort()) {
    const { policy, state } = after.get(key) as { policy: Policy; state: State | undefined }
    const isThere = states.has(key)
    if (state === undefined) {
      if (isThere) removed.push(key)
    } else if (state !== states.get(key)) {
      const row = { key, state, expiresAtS: expiryS(policy, state, nowMs) }
      if (isThere) changed.push(row)
      else added.push(row)
    }
  }
  return { changed, added, removed }
}
