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
import { turnWatches } from './turn-watches.js'
import type { Watch, Watches } from './watch-charges.js'

/** The most limits of one scope that are remembered. */
const MAX_REMEMBERED = 64
/** How many frames are compared, so that calls of one helper function differ. */
const FRAMES = 4

/** A limit of limiters in this process, and the place that created them. */
interface NamedLimit {
  readonly policy: Policy
  readonly place: string
  /** Whether the code that created one of them still runs: then a loop did, and no hot reload. */
  isNew: boolean
  limiters: number
  /** The watches of the newest of these limiters. */
  watches?: Watches | undefined
}

/** The limits that share their keys, the oldest first. */
interface Scope {
  readonly limits: NamedLimit[]
  /** Returns a watch for the next limiter. Set once one limiter may have replaced another. */
  nextWatch?: () => Watch
}

/** The limits of named limiters by scope, for each client, or for each store without a client. */
const namedLimits = processWide('namedLimits', () => new WeakMap<object, Map<string, Scope>>())

/** Watches the name of a limiter. */
export interface NameWatch {
  /** Adds a watch to those of the limiter if it may have replaced another one. */
  watchName(watches: Watches): void
  /** Forgets the limiter once it is closed. */
  forgetName(): void
}

/**
 * Warns if a limiter shares its keys with one that has the same name and another policy. Limiters from one
 * place are taken for the same limiter, created again by a hot reload or a test. The exceptions are those
 * that one turn of the event loop creates, and those charged alternately, such as one limiter for each tenant.
 */
export function watchSharedNames(
  owner: string,
  store: Store,
  entries: readonly Entry[],
  context: LimitContext,
): NameWatch {
  const { client = store, table = '' } = store.origin ?? {}
  const scopes = namedLimits.get(client) ?? new Map<string, Scope>()
  namedLimits.set(client, scopes)
  const place = userFrames('limiter/shared-name', new Error('created here').stack).slice(0, FRAMES).join('\n')
  const watches = entries.flatMap((entry) => {
    const { policy } = entry
    if (!isPolicy(policy)) return []
    const key = `${table}:${entryScope(entry, context)}:${keyCodeOf(policy.spec)}`
    const scope = scopes.get(key) ?? { limits: [] }
    scopes.set(key, scope)
    const limit = { policy, place, isNew: true, limiters: 0 }
    return [watchLimit(scope, limit, (other) => warn(owner, String(context.name), key, limit, other))]
  })
  return {
    watchName(ofLimiter) {
      for (const { watchName } of watches) watchName(ofLimiter)
    },
    forgetName() {
      for (const { forgetName } of watches.splice(0)) forgetName()
    },
  }
}

/** Warns about a limit from another place at once, and about one from the same place once both are in use. */
function watchLimit(scope: Scope, limit: NamedLimit, warnBeside: (other: NamedLimit) => void): NameWatch {
  const others = scope.limits.filter((each) => each.limiters > 0 && !isSamePolicy(each.policy, limit.policy))
  const other = others.find((each) => each.isNew || each.place !== limit.place)
  if (other !== undefined) warnBeside(other)
  const [replaced] = other === undefined ? others : []
  const { kept, forgetName } = remember(scope.limits, limit)
  return {
    watchName(watches) {
      if (replaced !== undefined && scope.nextWatch === undefined) {
        scope.nextWatch = turnWatches(() => warnBeside(replaced))
        replaced.watches?.push(scope.nextWatch())
      }
      if (scope.nextWatch !== undefined) watches.push(scope.nextWatch())
      kept.watches = watches
    },
    forgetName,
  }
}

/** Remembers a limit, or finds an equal one, until `forgetName` is called. */
function remember(limits: NamedLimit[], limit: NamedLimit): { kept: NamedLimit; forgetName: () => void } {
  const same = limits.find(({ policy, place }) => place === limit.place && isSamePolicy(policy, limit.policy))
  const kept = same ?? limit
  kept.limiters++
  kept.isNew = true
  afterTurn(() => {
    kept.isNew = false
  })
  if (same === undefined && limits.push(kept) > MAX_REMEMBERED) limits.shift()
  return {
    kept,
    forgetName() {
      kept.limiters--
      if (kept.limiters === 0) kept.watches = undefined
    },
  }
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
