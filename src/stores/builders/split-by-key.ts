import { keysOf, type Operation } from '../operation.js'

/**
 * Splits the indexes of operations into two halves that share no key, each in order. Returns `undefined` if
 * shared keys connect all operations.
 */
export function splitByKey(
  operations: readonly Operation[],
): readonly [readonly number[], readonly number[]] | undefined {
  const groups = new Map<string, number[]>()
  const unkeyed: number[] = []
  operations.forEach((operation, index) => {
    let group = [index]
    for (const { key } of keysOf(operation)) {
      const other = groups.get(key)
      if (other === group) continue
      if (other !== undefined) group = merge(groups, other, group)
      groups.set(key, group)
    }
    if (keysOf(operation).length === 0) unkeyed.push(index)
  })
  const all = [...new Set(groups.values())]
  if (all.length < 2) return undefined
  const middle = Math.ceil(all.length / 2)
  const inOrder = (indexes: readonly number[]) => indexes.toSorted((a, b) => a - b)
  return [inOrder([...unkeyed, ...all.slice(0, middle).flat()]), inOrder(all.slice(middle).flat())]
}

/** Moves the smaller group into the other one, which it returns. */
function merge(groups: Map<string, number[]>, a: number[], b: number[]): number[] {
  const [large, small] = a.length < b.length ? [b, a] : [a, b]
  large.push(...small)
  for (const [key, group] of groups) if (group === small) groups.set(key, large)
  return large
}
