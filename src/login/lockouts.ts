import type { IncomingMessage } from 'node:http'
import { chargeOf, type Decision, type NamedPart } from '../limiter/decision.js'
import { consecutive } from '../policies/consecutive.js'
import type { KeyedPolicy, Store } from '../stores/store.js'
import { messageOf } from '../stores/store-error.js'
import { RecentMap } from '../util/recent-map.js'
import { timeout } from '../util/timeout.js'
import { warnOnce } from '../util/warn-once.js'
import { LIMIT_NAMES } from './limits.js'

/**
 * Reports accounts that were locked, to strangers or to their known devices: once for each lock, in all
 * processes that share the store.
 */
export interface Lockouts<Req> {
  /** A failure was the last one in a row that there may be. */
  reached(req: Req, decision: Decision): void
  /** An attempt was refused, perhaps by a lock that nobody was told of: a process ended, or the store was charged after an outage. */
  refused(req: Req, decision: Decision): void
  /** An attempt was let through: its account is not locked. */
  passed(decision: Decision): void
  /** The rows of these parts are not locked any more. */
  forget(parts: readonly NamedPart[]): Promise<void>
}

/** Accounts whose refusals this process remembers, at least so many. */
const MIN_REMEMBERED = 10_000
/** Refusals that last for less may come of attempts that are under way and are given back. */
const SETTLED_MS = 60_000
const ONCE = consecutive({ limit: 1 })

/** Beside each lock lies a mark in the store that it was told. A store that fails has it told again rather than never. */
export function lockouts<Req extends IncomingMessage>(
  store: Store,
  timeoutMs: number,
  tell: (req: Req) => unknown,
): Lockouts<Req> {
  /** Since when all attempts of an account are refused, or since they were looked into. */
  const refusedSinceMs = new RecentMap<number>(MIN_REMEMBERED)
  const inTime = timeout(timeoutMs)

  async function tellOnce(req: Req, key: string): Promise<void> {
    if (await isFirst(markOf(key))) await safely(() => tell(req))
  }

  async function isFirst(mark: KeyedPolicy): Promise<boolean> {
    try {
      const [verdict] = await inTime(Promise.resolve(store.charge([[{ ...mark, cost: 1 }]])))
      return verdict?.allowed !== false
    } catch {
      return true // the limiter tells of stores that fail
    }
  }

  return {
    reached(req, decision) {
      const part = inARowPart(chargeOf(decision))
      if (part !== undefined) tellOnce(req, part.key)
    },
    refused(req, decision) {
      const part = inARowPart(chargeOf(decision))
      if (part === undefined || decision.source !== 'store' || !isLocked(decision)) return
      const nowMs = performance.now()
      const sinceMs = refusedSinceMs.get(part.key)
      if (sinceMs !== undefined && nowMs - sinceMs < SETTLED_MS) return
      refusedSinceMs.set(part.key, nowMs)
      if (sinceMs !== undefined) tellOnce(req, part.key)
    },
    passed(decision) {
      const part = inARowPart(chargeOf(decision))
      if (part !== undefined) refusedSinceMs.delete(part.key)
    },
    async forget(parts) {
      const rows = parts.filter(isInARow)
      if (rows.length === 0) return
      for (const { key } of rows) refusedSinceMs.delete(key)
      await inTime(Promise.resolve(store.forget(rows.map(({ key }) => markOf(key)))))
    },
  }
}

function markOf(key: string): KeyedPolicy {
  return { key: `${key}:told`, policy: ONCE }
}

function inARowPart(parts: readonly NamedPart[] = []): NamedPart | undefined {
  return parts.find(isInARow)
}

function isInARow({ name }: { readonly name: string }): boolean {
  return name === LIMIT_NAMES.consecutive
}

function isLocked({ parts }: Decision): boolean {
  return parts.some((part) => isInARow(part) && !part.allowed)
}

async function safely(work: () => unknown): Promise<void> {
  try {
    await work()
  } catch (error) {
    const message = `headgate: onLockout threw (${messageOf(error)}). The account is locked all the same.`
    warnOnce('HEADGATE_LOCKOUT_FAILED', message)
  }
}
