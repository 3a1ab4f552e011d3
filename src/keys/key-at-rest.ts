/** How many keys a limit remembers; at 100 bytes each it is well under a megabyte. */
const REMEMBERED = 4096

/**
 * Makes the keys at rest of one policy: `<head>:{<identity>}`, the braces being a Redis Cluster hash tag. The keys of
 * recent clients are remembered, since a string just joined is a rope, which every look-up would flatten and hash again.
 */
export function keysAtRest(head: string): (identity: string) => string {
  const remembered = new Map<string, string>()
  return function keyAtRest(identity) {
    const known = remembered.get(identity)
    if (known !== undefined) return known
    const key = `${head}:{${identity}}`
    if (remembered.size >= REMEMBERED) remembered.clear()
    remembered.set(identity, key)
    return key
  }
}
