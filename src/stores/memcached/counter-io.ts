import { StoreError } from '../store-error.js'
import type { MemcachedReply } from './client.js'
import { foreignItem, refusal } from './errors.js'
import type { Link } from './link.js'
import { type Ask, STATUS } from './protocol.js'

/** What is done with the results of work, or with why there are none. */
export type Done<T> = (outcome: T | StoreError) => void

/** Asks for a count, which is 0 where there is no counter. */
export function askCount(ask: Link, key: string, one: Ask, done: Done<number>): void {
  ask(key, one, (answer) => done(answer instanceof StoreError ? answer : countIn(one, answer)))
}

/**
 * The count in a reply, less what has just been added. Counts and takings are answered by 8 bytes, reads by the digits as memcached
 * keeps them.
 */
export function countIn(one: Ask, reply: MemcachedReply, added = 0): number | StoreError {
  const { header, val, extras } = reply
  if (header.status === STATUS.notFound) return 0
  if (header.status !== STATUS.ok) return refusal(one, reply)
  if (one.extras !== undefined) return lessThan(one, val.readBigUInt64BE(0), BigInt(added))
  if (val.length === 0 && extras.length === 0) return 0 // removed
  const text = val.toString('latin1').trimEnd()
  const isCount = extras.readUInt32BE(0) === 0 && /^\d{1,16}$/.test(text)
  return isCount ? Number(text) : foreignItem(one.key)
}

/** Sums may be above 2^53, and begin again from 0 above 2^64: nobody has counted so far. */
function lessThan(one: Ask, sum: bigint, added: bigint): number | StoreError {
  return sum < added ? foreignItem(one.key) : Number(sum - added)
}
