import { isPolicy, isSamePolicy, type Policy } from '../policies/policy.js'
import { keyCodeOf } from '../policies/spec.js'
import type { Store } from '../stores/store.js'
import { afterTurn } from '../util/defer.js'
import { processWide } from '../util/process-wide.js'
import { userFrames } from '../util/user-frames.js'
import { fieldsOf } from '../util/values.js'
import { warnOnce } from '../util/warn-once.js'
import type { Entry } from './read-limits.js'
import { entryScope, type LimitContext } from './resolve-parts.js'

/** The most limits of one scope that are remembered. */
const MAX_REMEMBERED = 64
/** How many frames are compared, so that calls of one helper function differ. */
const FRAMES = 4

/** A limit that limiters of this process have in common, and the place in the code that created them. */
interface NamedLimit {
  readonly policy: Policy
  readonly place: string
  /**
   * Whether one of them was created in this turn of the event loop, as by a loop and not by a hot reload.
   */
  isNew: boolean
  /** How many of them are open. */
  limiters: number
}

/** By client, or by store if it has no client: the limits of named limiters by scope, the oldest first. */
const namedLimits = processWide('namedLimits', () => new WeakMap<object, Map<string, NamedLimit[]>>())

/**
 * Warns if another open limiter has the same name, and so the same keys, but a different policy. Limiters
 * from one place count as the same limiter, created again by a hot reload or a test, unless one turn of the
 * event loop creates them. Returns a function to call once the limiter is closed.
 */
export function registerName(
  owner: string,
  store: Store,
  entries: readonly Entry[],
  context: LimitContext,
): () => void {
  const { client = store, table = '' } = store.origin ?? {}
  const scopes = namedLimits.get(client) ?? new Map<string, NamedLimit[]>()
  namedLimits.set(client, scopes)
  const place = userFrames('limiter/shared-name', new Error('created here').stack).slice(0, FRAMES).join('\n')
  const kept = entries.flatMap((entry) => {
    const { policy } = entry
    if (!isPolicy(policy)) return []
    const key = `${table}:${entryScope(entry, context)}:${keyCodeOf(policy.spec)}`
    const limits = scopes.get(key) ?? []
    scopes.set(key, limits)
    const limit = { policy, place, isNew: true, limiters: 0 }
    const other = limits.find((each) => isConflicting(each, limit))
    if (other !== undefined) warn(owner, String(context.name), key, limit, other)
    return [remember(limits, limit)]
  })
  return () => {
    for (const limit of kept.splice(0)) limit.limiters--
  }
}

/** Returns whether an earlier limit is in use, has another policy, and is not one that `limit` replaces. */
function isConflicting(earlier: NamedLimit, { policy, place }: NamedLimit): boolean {
  return (
    earlier.limiters > 0 &&
    !isSamePolicy(earlier.policy, policy) &&
    (earlier.isNew || earlier.place !== place)
  )
}

/**
 * Remembers a limit or, if an equal one is known, counts one more limiter for that. Returns the one counted.
 */
function remember(limits: NamedLimit[], limit: NamedLimit): NamedLimit {
  const same = limits.find(({ policy, place }) => place === limit.place && isSamePolicy(policy, limit.policy))
  const kept = same ?? limit
  kept.limiters++
  kept.isNew = true
  afterTurn(() => {
    kept.isNew = false
  })
  if (same === undefined && limits.push(kept) > MAX_REMEMBERED) limits.shift()
  return kept
}

function warn(owner: string, name: string, scope: string, limit: NamedLimit, other: NamedLimit): void {
  const [line = '', otherLine = ''] = [limit, other].map(({ place }) => place.split('\n')[0])
  warnOnce(
    'HEADGATE_SAME_NAME',
    `${owner}: two limiters named ${name} share their counts in one store, but not their policy: ` +
      `${nameBeside(limit, other)} (${line}) and ${nameBeside(other, limit)} (${otherLine}). Give each its own name.`,
    scope,
  )
}

/** Returns the name of a limit's policy. If the other one has it as well, with the numbers that differ. */
function nameBeside({ policy }: NamedLimit, { policy: other }: NamedLimit): string {
  if (policy.name !== other.name) return policy.name
  const otherSpec: object = other.spec
  const differing = Object.entries(policy.spec).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(fieldsOf(otherSpec)[name]),
  )
  return [policy.name, ...differing.map(([name, value]) => `${name} ${JSON.stringify(value)}`)].join(', ')
}
