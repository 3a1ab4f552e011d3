import { RecentMap } from '../util/recent-map.js'

/** Each limit remembers up to twice as many: at 100 bytes a key, less than a megabyte. */
const MIN_REMEMBERED = 4096

/**
 * Creates the function that returns a client's key in a store: `<head>:{<identity>}`, the braces being a
 * Redis Cluster hash tag. The keys of recent clients are remembered: a string just joined is a rope, which
 * every look-up would flatten and hash again.
 */
export function storageKeys(head: string): (identity: string) => string {
  const remembered = new RecentMap<string>(MIN_REMEMBERED)
  return function keyAtRest(identity) {
    const known = remembered.get(identity)
    if (known !== undefined) return known
    const key = `${head}:{${identity}}`
    remembered.set(identity, key)
    return key
  }
}
