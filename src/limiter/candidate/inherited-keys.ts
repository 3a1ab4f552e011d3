import type { Entry } from '../read-limits.js'

/**
 * Returns the limits of a candidate. A limit without `key`, `cost` or `skip` inherits it from the limit in
 * force with the same name. If there is none, it inherits it from the first limit. So a candidate tries
 * other numbers for the same clients.
 */
export function withKeysOf(entries: readonly Entry[], candidate: readonly Entry[]): readonly Entry[] {
  return candidate.map((entry) => {
    const inForce = entries.find(({ entryName }) => entryName === entry.entryName) ?? entries[0]
    const { key = inForce?.key, cost = inForce?.cost, skip = inForce?.skip } = entry
    return { ...entry, key, cost, skip }
  })
}
