import { isPromise, type MaybePromise, readAll, thenMaybe } from '../util/maybe-promise.js'
import { type LimitContext, limitBinder, partOf } from './bind-limit.js'
import type { Entry } from './parse-limits.js'
import type { NamedPart } from './receipt.js'

/**
 * Returns the parts of a charge: one for each limit that applies to the subject. `cost` replaces the limits'
 * own cost. With `names`, only the keys of the limits of these names are read: others may need what the
 * subject does not have.
 */
export type ResolveParts = (
  subject: unknown,
  cost?: number,
  names?: readonly string[],
) => MaybePromise<NamedPart[]>

/** Creates the function that resolves the charges of a limiter. */
export function partsResolver(entries: readonly Entry[], context: LimitContext): ResolveParts {
  const resolvers = entries.map((entry) =>
    limitBinder(entry, context, (limit) => (identity, cost) => [partOf(limit, identity, cost)]),
  )
  const [resolveOnly, ...others] = resolvers
  if (resolveOnly !== undefined && others.length === 0)
    return (subject, cost, names) => {
      const parts = resolveOnly(subject, cost, names)
      return isPromise(parts) ? parts.then((later) => later ?? []) : (parts ?? [])
    }
  return (subject, cost, names) => {
    const parts = readAll(resolvers, (resolveParts) => resolveParts(subject, cost, names))
    return thenMaybe(parts, (all) => all.flatMap((part) => part ?? []))
  }
}
