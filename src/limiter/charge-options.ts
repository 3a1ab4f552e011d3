import { optional, readRows } from '../options/option-table.js'
import { wrongOption } from '../util/validate.js'
import { isObject } from '../util/values.js'
import { checkedCost } from './read-limits.js'

const TABLE = {
  rows: { cost: optional(checkedCost) },
  fixes: { points: 'cost', weight: 'cost', units: 'cost', amount: 'cost' },
  objectFix: 'Write charge(subject, { cost: 2 }).',
}

/**
 * Returns the cost in the options of a charge; `undefined` if they have none. Throws a `TypeError` for other
 * options, and for a bare number: other packages take one as the cost, and it would be ignored here.
 */
export function readCost(owner: string, options: unknown): number | undefined {
  if (options === null) return undefined
  if (!isObject(options) || Array.isArray(options)) return readRows(owner, options, TABLE).cost // throws
  for (const name in options) if (name !== 'cost') return readRows(owner, options, TABLE).cost
  return options.cost === undefined ? undefined : checkedCost(owner, 'cost', options.cost)
}

/** Throws a `TypeError` for any options of a peek: other packages would read a cost there. */
export function refuseOptions(owner: string, options: unknown): void {
  if (options === undefined) return
  const fix = 'Write peek(subject), and compare remaining with the cost.'
  throw wrongOption(owner, 'options', 'left out, because a peek takes nothing', options, fix)
}
