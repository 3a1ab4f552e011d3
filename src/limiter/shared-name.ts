import { isPolicy, signatureOf } from '../policies/policy.js'
import { keyCodeOf } from '../policies/spec.js'
import type { Store } from '../stores/store.js'
import { processWide } from '../util/process-wide.js'
import { userFrames } from '../util/user-frames.js'
import { warnOnce } from '../util/warn-once.js'
import { entryScope, type LimitContext } from './bind-limit.js'
import type { Entry } from './read-limits.js'

/** The most limits of one scope that are remembered. */
const MAX_REMEMBERED = 64
/** How many frames are compared, so that calls of one helper function differ. */
const FRAMES = 4

/** A limit of limiters in this process, and the place that created them. */
interface NamedLimit {
  readonly policyName: string
  readonly signature: string
  readonly place: string
  limiters: number
}

/** The limits of limiters with a name, by client, or by store if it has no client, and by scope. */
const namedLimits = processWide('namedLimits', () => new WeakMap<object, Map<string, NamedLimit[]>>())

/**
 * Warns if a limiter shares its keys with one that has the same name and another policy. Limiters from one
 * place are taken for the same limiter, created again by a hot reload or a test. Returns the function that
 * forgets the limiter.
 */
export function watchSharedNames(
  owner: string,
  store: Store,
  entries: readonly Entry[],
  context: LimitContext,
): () => void {
  const { client = store, table = '' } = store.origin ?? {}
  const scopes = namedLimits.get(client) ?? new Map<string, NamedLimit[]>()
  namedLimits.set(client, scopes)
  const place = userFrames(new Error('created here').stack).slice(0, FRAMES).join('\n')
  const forgets = entries.flatMap((entry) => {
    const { policy } = entry
    if (!isPolicy(policy)) return []
    const scope = `${table}:${entryScope(entry, context)}:${keyCodeOf(policy.spec)}`
    const limits = scopes.get(scope) ?? []
    scopes.set(scope, limits)
    const limit = { policyName: policy.name, signature: signatureOf(policy), place, limiters: 0 }
    const other = limits.find(
      (each) => each.limiters > 0 && each.signature !== limit.signature && each.place !== place,
    )
    if (other !== undefined) warn(owner, String(context.name), scope, limit, other)
    return remember(limits, limit)
  })
  return () => {
    for (const forget of forgets.splice(0)) forget()
  }
}

/** Remembers a limit until the returned function is called. */
function remember(limits: NamedLimit[], limit: NamedLimit): () => void {
  const same = limits.find(({ signature, place }) => signature === limit.signature && place === limit.place)
  const kept = same ?? limit
  kept.limiters++
  if (same === undefined && limits.push(kept) > MAX_REMEMBERED) limits.shift()
  return () => {
    kept.limiters--
  }
}

function warn(owner: string, name: string, scope: string, limit: NamedLimit, other: NamedLimit): void {
  const [line = '', otherLine = ''] = [limit, other].map(({ place }) => place.split('\n')[0])
  warnOnce(
    'HEADGATE_SAME_NAME',
    `${owner}: two limiters named ${name} share their counts in one store, but not their policy: ` +
      `${limit.policyName} (${line}) and ${other.policyName} (${otherLine}). Give each its own name.`,
    scope,
  )
}
