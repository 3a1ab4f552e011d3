import { setTimeout as pause } from 'node:timers/promises'
import type { MemcachedReply } from './client.js'
import type { Transport } from './connection.js'
import { foreignItemError, statusError } from './errors.js'
import { decrement, get, increment, type MemcachedRequest, STATUS } from './protocol.js'

const MAX_ATTEMPTS = 30
/** The first attempts go at once, since what they race with is soon done; then the delays double. */
const MAX_IMMEDIATE_ATTEMPTS = 10
const MAX_WAIT_MS = 64
/** memcached 1.6.18 evicts what is not read, and an increment is no read: one in so many adds a read. */
const READ_ONE_IN = 16

/** Reads and changes counters. All counters of one `key` share a server. */
export type CounterIo = ReturnType<typeof counterIo>

export function counterIo({ request }: Transport) {
  async function read(key: string, counter: string): Promise<number> {
    const reading = get(counter)
    return countIn(reading, await request(key, reading))
  }

  /**
   * Adds units, and returns the count before; with 0 units only reads. Retries when several processes create
   * a counter at the same time, since memcached answers "not stored" to all but one.
   */
  async function add(key: string, counter: string, units: number, expiration: number): Promise<number> {
    if (units === 0) return read(key, counter)
    const adding = increment(counter, units, expiration)
    for (let attempt = 1; ; attempt++) {
      const replied = request(key, adding)
      if (attempt === 1 && Math.random() * READ_ONE_IN < 1) request(key, get(counter)).catch(() => undefined)
      const reply = await replied
      const isDone = reply.header.status !== STATUS.notStored || attempt === MAX_ATTEMPTS
      if (isDone) return countIn(adding, reply, units)
      await backOff(attempt)
    }
  }

  /** Subtracts units. Retries while a reader holds the item: only then does memcached need memory for it. */
  async function subtract(key: string, counter: string, units: number): Promise<void> {
    const subtracting = decrement(counter, units)
    for (let attempt = 1; ; attempt++) {
      const reply = await request(key, subtracting)
      const isDone = reply.header.status !== STATUS.noMemory || attempt === MAX_ATTEMPTS
      if (isDone) return void countIn(subtracting, reply) // throws for an error
      await backOff(attempt)
    }
  }

  return { read, add, subtract }
}

async function backOff(attempt: number): Promise<void> {
  if (attempt < MAX_IMMEDIATE_ATTEMPTS) return
  await pause(Math.min(2 ** (attempt - MAX_IMMEDIATE_ATTEMPTS), MAX_WAIT_MS))
}

/** Returns the count before a request; 0 without a counter. Only replies to reads are digits. */
function countIn(request: MemcachedRequest, reply: MemcachedReply, added = 0): number {
  const { header, val, extras } = reply
  if (header.status === STATUS.notFound) return 0
  if (header.status !== STATUS.ok) throw statusError(request, reply)
  if (request.extras !== undefined) {
    const before = val.readBigUInt64BE(0) - BigInt(added)
    if (before < 0n) throw foreignItemError(request.key) // a sum beyond 2^64 wraps around
    return Number(before)
  }
  const digits = val.toString('latin1').trimEnd()
  const isCount = extras.readUInt32BE(0) === 0 && /^\d{1,16}$/.test(digits)
  if (!isCount) throw foreignItemError(request.key)
  return Number(digits)
}
