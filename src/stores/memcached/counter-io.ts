import { retry } from '../../util/retry.js'
import type { MemcachedReply } from './client.js'
import type { Transport } from './connection.js'
import { foreignKeyError, statusError } from './errors.js'
import { decrement, get, increment, type MemcachedRequest, STATUS } from './protocol.js'

/** memcached 1.6.18 evicts unread items, and an increment is no read: one increment in 16 adds a read. */
const READ_ONE_IN = 16

/** Reads and changes counters. All counters of one `key` share a server. */
export type CounterIo = ReturnType<typeof counterIo>

export function counterIo({ request }: Transport) {
  let evicts = true // a server with -M does not, and cannot increment a counter while somebody reads it

  async function read(key: string, counter: string): Promise<number> {
    const reading = get(counter)
    return countIn(reading, await request(key, reading))
  }

  /** Sends a request, and sends it again while the reply has this status, which passes. */
  async function requestWhile(status: number, key: string, changing: MemcachedRequest) {
    const isFinal = ({ header }: MemcachedReply) => header.status !== status
    const reply = await request(key, changing)
    return isFinal(reply) ? reply : retry(() => request(key, changing), { isFinal })
  }

  /**
   * Adds units, and returns the count before; with 0 units only reads. Of several processes that create a
   * counter at the same time, memcached answers "not stored" to all but one.
   */
  async function add(key: string, counter: string, units: number, expiration: number): Promise<number> {
    if (units === 0) return read(key, counter)
    const adding = increment(counter, units, expiration)
    const replied = requestWhile(STATUS.notStored, key, adding)
    if (evicts && Math.random() * READ_ONE_IN < 1) request(key, get(counter)).catch(() => undefined)
    let reply = await replied
    if (reply.header.status === STATUS.noMemory) {
      evicts = false
      if ((await read(key, counter)) > 0) reply = await requestWhile(STATUS.noMemory, key, adding)
    }
    return countIn(adding, reply, units)
  }

  /** Subtracts units. Only while a reader holds the item does memcached need memory for that. */
  async function subtract(key: string, counter: string, units: number): Promise<void> {
    const subtracting = decrement(counter, units)
    countIn(subtracting, await requestWhile(STATUS.noMemory, key, subtracting)) // throws for an error
  }

  return { read, add, subtract }
}

/** Returns the count before a request; 0 without a counter. Only replies to reads are digits. */
function countIn(request: MemcachedRequest, reply: MemcachedReply, added = 0): number {
  const { header, val, extras } = reply
  if (header.status === STATUS.notFound) return 0
  if (header.status !== STATUS.ok) throw statusError(request, reply)
  if (request.extras !== undefined) {
    const before = val.readBigUInt64BE(0) - BigInt(added)
    if (before < 0n) throw foreignKeyError(request.key) // a sum beyond 2^64 wraps around
    return Number(before)
  }
  const digits = val.toString('latin1').trimEnd()
  const isCount = extras.readUInt32BE(0) === 0 && /^\d{1,16}$/.test(digits)
  if (!isCount) throw foreignKeyError(request.key)
  return Number(digits)
}
