/**
 * Bucket times are multiples of 1/4096 ms, the spacing of doubles at today's time, so sums and retry times
 * are exact. (Epoch milliseconds reach 2^41, where the spacing doubles, in 2039.) Lua and SQL round alike.
 */
export const GRID_PER_MS = 4096
