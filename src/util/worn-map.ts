/** How many additions a map takes, beside one for each entry that it holds. */
const ADDITIONS = 1024

/**
 * Returns whether a map or set whose entries come and go should be replaced by a copy. Once a `Map` has become
 * old, V8 (Node.js 20) allocates its next tables in old space. A table there keeps the entries that it had when it
 * was replaced until the next full collection.
 */
export function isWorn(additions: number, size: number): boolean {
  return additions > ADDITIONS + size
}
