import { retry } from '../../util/retry.js'
import { foreignKeyError } from '../shared/state-codec.js'
import type { MemcachedTransport } from './connection.js'
import type { CountVersion } from './counters.js'
import { statusError } from './errors.js'
import {
  CHANGED,
  COUNTER_FLAGS,
  decrement,
  get,
  hasFlags,
  increment,
  type MemcachedRequest,
  type Reply,
  STATUS,
  sumBefore,
  swapCount,
  valueIn,
} from './protocol.js'

/** memcached 1.6.18 evicts unread items, and an increment is not a read. So one increment in 16 also reads. */
const READ_ONE_IN = 16

/** Called with a count, or with the error in its place. */
type OnCount = (version: CountVersion | Error) => void

/** Reads and changes counters. All counters of one `key` share a server. */
export type CounterIo = ReturnType<typeof counterIo>

export function counterIo({ channelOf, request }: MemcachedTransport) {
  let evicts = true // a server with -M does not, and cannot increment a counter while a client reads it

  async function readVersion(key: string, counter: string): Promise<CountVersion> {
    const reading = get(counter)
    const reply = await request(key, reading)
    return { count: countIn(reading, reply), cas: tokenIn(reply) }
  }

  async function read(key: string, counter: string): Promise<number> {
    return (await readVersion(key, counter)).count
  }

  /** Writes a count if the counter is unchanged since that version. Returns whether it wrote. */
  async function swap(
    key: string,
    counter: string,
    { cas }: CountVersion,
    count: number,
    expiration: number,
  ): Promise<boolean> {
    const swapping = swapCount(counter, count, expiration, cas)
    const reply = await request(key, swapping)
    const { status } = reply
    if (status !== STATUS.ok && !CHANGED.includes(status)) throw statusError(swapping, reply)
    return status === STATUS.ok
  }

  /** Sends a request again while the reply has this status, which passes. */
  function repeatWhile(status: number, key: string, changing: MemcachedRequest) {
    const isFinal = (reply: Reply) => reply.status !== status
    return retry(() => request(key, changing), { isFinal })
  }

  /**
   * Adds units, and calls back with the count before and the CAS token after, or with the error. With 0
   * units, only reads.
   */
  function add(key: string, counter: string, units: number, expiration: number, settle: OnCount): void {
    if (units === 0) {
      readVersion(key, counter).then(settle, settle)
      return
    }
    const adding = increment(counter, units, expiration)
    const channel = channelOf(key)
    channel.send(adding, (reply) => {
      const count = reply instanceof Error || reply.status !== STATUS.ok ? -1 : sumBefore(reply, units)
      if (reply instanceof Error) settle(reply)
      else if (count >= 0) settle({ count, cas: tokenIn(reply) })
      else addAgain(key, adding, units, reply).then(settle, settle)
    })
    if (evicts && Math.random() * READ_ONE_IN < 1) channel.send(get(counter), () => undefined)
  }

  /**
   * Adds units after a reply without their sum. If several processes create a counter at the same time,
   * memcached replies "not stored" to all but one.
   */
  async function addAgain(
    key: string,
    adding: MemcachedRequest,
    units: number,
    firstReply: Reply,
  ): Promise<CountVersion> {
    let reply = firstReply
    if (reply.status === STATUS.notStored) reply = await repeatWhile(STATUS.notStored, key, adding)
    if (reply.status === STATUS.noMemory) {
      evicts = false
      if ((await read(key, adding.key)) > 0) reply = await repeatWhile(STATUS.noMemory, key, adding)
    }
    return { count: countIn(adding, reply, units), cas: tokenIn(reply) }
  }

  /**
   * Subtracts units, and returns the CAS token after; `undefined` without a counter. memcached needs memory
   * for that only while a reader holds the item.
   */
  async function subtract(key: string, counter: string, units: number): Promise<bigint | undefined> {
    const subtracting = decrement(counter, units)
    let reply = await request(key, subtracting)
    if (reply.status === STATUS.noMemory) reply = await repeatWhile(STATUS.noMemory, key, subtracting)
    countIn(subtracting, reply) // throws for an error
    return tokenIn(reply)
  }

  return { read, readVersion, add, subtract, swap }
}

/** Returns the CAS token in a reply; `undefined` without a counter, and from a server with -C, which has none. */
function tokenIn(reply: Reply): bigint | undefined {
  return reply.status === STATUS.ok ? reply.cas || undefined : undefined
}

/** Returns the count before a request; 0 without a counter. Only replies to reads are digits. */
function countIn(request: MemcachedRequest, reply: Reply, added = 0): number {
  if (reply.status === STATUS.notFound) return 0
  if (reply.status !== STATUS.ok) throw statusError(request, reply)
  if (request.extras !== undefined) {
    const before = sumBefore(reply, added)
    if (before < 0) throw foreignKeyError('memcached', request.key) // a sum beyond 2^64 wraps around
    return before
  }
  const digits = valueIn(reply).toString('latin1').trimEnd()
  const isCount = hasFlags(reply, COUNTER_FLAGS) && /^\d{1,16}$/.test(digits)
  if (!isCount) throw foreignKeyError('memcached', request.key)
  return Number(digits)
}
