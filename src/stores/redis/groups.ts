import { signatureOf } from '../../policies/policy.js'
import { keysOf, type Operation } from '../operation.js'

/**
 * Groups the indexes of operations by shape: those of a group name the same policies in the same order, so one
 * call applies them. The calls are sent in the order of the groups. An operation joins an earlier group of its
 * shape only if no group behind that one names any of its keys. So the operations on a key keep their order.
 */
export function groupsOf(operations: readonly Operation[]): readonly (readonly number[])[] {
  const all = Array.from(operations.keys())
  if (operations.every((operation) => hasShapeOf(operation, operations[0]))) return [all]
  const groups: number[][] = []
  /** The place of the last group of each shape, and of the last one that names each key. */
  const lastOfShape = new Map<string, number>()
  const lastOfKey = new Map<string, number>()
  for (const [i, operation] of operations.entries()) {
    const shape = shapeOf(operation)
    const keys = keysOf(operation)
    let place = lastOfShape.get(shape) ?? -1
    if (place < 0 || keys.some(({ key }) => (lastOfKey.get(key) ?? -1) > place)) place = groups.push([]) - 1
    groups[place]?.push(i)
    lastOfShape.set(shape, place)
    for (const { key } of keys) lastOfKey.set(key, place)
  }
  return groups
}

/** Returns whether two operations have the same type and the very same policies, as those of a limiter do. */
function hasShapeOf(operation: Operation, other: Operation | undefined): boolean {
  if (operation.type !== other?.type) return false
  if (operation.type === 'forget') return true
  const parts = keysOf(operation)
  const others = keysOf(other)
  return parts.length === others.length && parts.every(({ policy }, i) => policy === others[i]?.policy)
}

function shapeOf(operation: Operation): string {
  if (operation.type === 'forget') return 'forget'
  return [operation.type, ...keysOf(operation).map(({ policy }) => signatureOf(policy))].join(' ')
}
