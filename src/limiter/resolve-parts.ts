import { type MaybePromise, readAll, thenMaybe } from '../util/maybe-promise.js'
import { type Limit, type LimitContext, limitBinder, partOf } from './bind-limit.js'
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
  const toPart = (limit: Limit) => (identity: string, cost: number) => partOf(limit, identity, cost)
  const resolvers = entries.map((entry) => limitBinder(entry, context, toPart))
  const [only] = resolvers
  if (only !== undefined && resolvers.length === 1)
    return (subject, cost, names) => thenMaybe(only(subject, cost, names), toList)
  return (subject, cost, names) => {
    const parts = readAll(resolvers, (resolvePart) => resolvePart(subject, cost, names))
    return thenMaybe(parts, (all) => all.filter((part) => part !== undefined))
  }
}

function toList(part: NamedPart | undefined): NamedPart[] {
  return part === undefined ? [] : [part]
}
