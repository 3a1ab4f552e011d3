/**
 * How many additions wear out a map or set whose entries come and go, beside one for each entry. It should then be
 * replaced by a copy: once a `Map` has become old, V8 (Node.js 20) allocates its next tables in old space, where a
 * replaced table keeps its entries until the next full collection.
 */
export const ADDITIONS_PER_MAP = 1024
