/** Names with how often each was counted, the most frequent first. */
export type Counts = readonly (readonly [name: string, count: number])[]

/** Adds counts up. */
export function sumCounts(all: readonly Iterable<readonly [name: string, count: number]>[]): Counts {
  const sums = new Map<string, number>()
  for (const counts of all) for (const [name, count] of counts) sums.set(name, (sums.get(name) ?? 0) + count)
  return [...sums].sort(([, a], [, b]) => b - a)
}
