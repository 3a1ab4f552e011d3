import { RecentMap } from '../util/recent-map.js'

/** So many keys a limit remembers at least, and twice as many at most; at 100 bytes each that is less than a megabyte. */
const REMEMBERED = 4096

/**
 * Makes the keys at rest of one policy: `<head>:{<identity>}`, the braces being a Redis Cluster hash tag. The keys of
 * recent clients are remembered, since a string just joined is a rope, which every look-up would flatten and hash again.
 */
export function storageKeys(head: string): (identity: string) => string {
  const remembered = new RecentMap<string>(REMEMBERED)
  return function keyAtRest(identity) {
    const known = remembered.get(identity)
    if (known !== undefined) return known
    const key = `${head}:{${identity}}`
    remembered.set(identity, key)
    return key
  }
}
