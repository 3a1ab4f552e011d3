import type { IncomingMessage } from 'node:http'
import type { Decision, NamedPart } from '../decision.js'
import { chargeOf } from '../decision.js'
import { textOf } from '../observe/events.js'
import { consecutive } from '../policies/consecutive.js'
import { RecentMap } from '../recent-map.js'
import type { Held, Store } from '../stores/store.js'
import { warnOnce } from '../warn-once.js'
import { LIMIT_NAMES } from './login-limits.js'

/** Tells of accounts that were locked: once for each lock, in all processes that share the store. */
export interface Lockouts<Req> {
  /** A failure was the last one in a row that there may be. */
  reached(req: Req, decision: Decision): void
  /** An attempt was refused, perhaps by a lock that nobody was told of: a process ended, or the store was charged after an outage. */
  refused(req: Req, decision: Decision): void
  /** The account of these parts is not locked any more. */
  forget(parts: readonly NamedPart[]): Promise<void>
}

/** Locks that this process knows to be told, at least so many. */
const MIN_REMEMBERED = 10_000
const ONCE = consecutive({ limit: 1 })

/** Beside each lock lies a mark in the store that it was told. A store that fails has it told again rather than never. */
export function lockouts<Req extends IncomingMessage>(
  store: Store,
  tell: (req: Req) => unknown,
): Lockouts<Req> {
  const known = new RecentMap<true>(MIN_REMEMBERED)

  async function tellOnce(req: Req, key: string): Promise<void> {
    known.set(key, true)
    if (await isFirst(markOf(key))) await safely(() => tell(req))
  }

  async function isFirst(mark: Held): Promise<boolean> {
    try {
      const [verdict] = await store.charge([[{ ...mark, cost: 1 }]])
      return verdict?.allowed !== false
    } catch {
      return true // limits tell of stores that fail
    }
  }

  return {
    reached(req, decision) {
      const part = lockIn(chargeOf(decision))
      if (part !== undefined) tellOnce(req, part.key)
    },
    refused(req, decision) {
      if (decision.source !== 'store') return
      if (decision.parts.every(({ name, allowed }) => allowed || name !== LIMIT_NAMES.consecutive)) return
      const part = lockIn(chargeOf(decision))
      if (part !== undefined && !known.get(part.key)) tellOnce(req, part.key)
    },
    async forget(parts) {
      const part = lockIn(parts)
      if (part === undefined) return
      known.delete(part.key)
      await store.forget([markOf(part.key)])
    },
  }
}

function markOf(key: string): Held {
  return { key: `${key}:told`, policy: ONCE }
}

function lockIn(parts: readonly NamedPart[] = []): NamedPart | undefined {
  return parts.find(({ name }) => name === LIMIT_NAMES.consecutive)
}

async function safely(work: () => unknown): Promise<void> {
  try {
    await work()
  } catch (error) {
    const message = `headgate: onLockout threw (${textOf(error)}). The account is locked all the same.`
    warnOnce('HEADGATE_LOCKOUT_FAILED', message)
  }
}
