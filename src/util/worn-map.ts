/**
 * A map or set whose entries come and go is replaced by a copy after this many additions, plus one for each
 * entry. Otherwise it ends up in old space, where V8 (Node.js 20) then allocates its next tables as well. A
 * table that was replaced there keeps its entries alive until the next full collection.
 */
export const ADDITIONS_PER_MAP = 1024
