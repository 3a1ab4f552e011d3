import { signatureOf } from '../../policies/policy.js'
import { keysOf, type Operation } from '../operation.js'

/** Operations of one shape, which one call applies: they name the same policies in the same order. */
export interface Group {
  /** The indexes of the operations in the batch. */
  readonly indexes: number[]
  /** Whether a later group of the batch names one of its keys. */
  isFollowed: boolean
}

/**
 * Groups the operations of a batch by shape. The calls are sent in the order of the groups. To keep the
 * operations on a key in order, an operation joins an earlier group of its shape only if no later group
 * names any of its keys.
 */
export function groupsOf(operations: readonly Operation[]): readonly Group[] {
  const groups: Group[] = []
  /** The place of the last group of each shape, and of the last one that names each key. */
  const lastOfShape = new Map<string, number>()
  const lastOfKey = new Map<string, number>()
  for (const [i, operation] of operations.entries()) {
    const shape = shapeOf(operation)
    const earlier = keysOf(operation).map(({ key }) => lastOfKey.get(key) ?? -1)
    let place = lastOfShape.get(shape) ?? -1
    if (place < 0 || earlier.some((last) => last > place))
      place = groups.push({ indexes: [], isFollowed: false }) - 1
    groups[place]?.indexes.push(i)
    lastOfShape.set(shape, place)
    for (const { key } of keysOf(operation)) lastOfKey.set(key, place)
    for (const last of earlier) {
      const group = groups[last]
      if (group !== undefined && last < place) group.isFollowed = true
    }
  }
  return groups
}

/** Returns whether operations have one type and the very same policies, as the charges of a limiter do. */
export function areOfOneShape(operations: readonly Operation[]): boolean {
  const [first] = operations
  for (const operation of operations) if (operation !== first && !hasShapeOf(operation, first)) return false
  return true
}

function hasShapeOf(operation: Operation, other: Operation | undefined): boolean {
  if (operation.type !== other?.type) return false
  if (operation.type === 'forget') return true
  const parts = keysOf(operation)
  const others = keysOf(other)
  for (let i = 0; i < parts.length; i++) if (parts[i]?.policy !== others[i]?.policy) return false
  return parts.length === others.length
}

function shapeOf(operation: Operation): string {
  if (operation.type === 'forget') return 'forget'
  return [operation.type, ...keysOf(operation).map(({ policy }) => signatureOf(policy))].join(' ')
}
