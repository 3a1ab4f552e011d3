import { performance } from 'node:perf_hooks'
import { hashKey } from '../shared/hash-key.js'

/*
 * Requests and replies of memcached's binary protocol: https://docs.memcached.org/protocols/binary/. Each is
 * a header of 24 bytes, extras, the key and the value. Numbers are big-endian.
 */

const MAGIC = 0x80
const HEADER_LENGTH = 24
/** The expiration that says: create no counter. */
const DO_NOT_CREATE = 0xffffffff
/** The flags of headgate's states, which distinguish them from other applications' values. */
const STATE_FLAGS = 0x68670001
/** The flags of a counter that an increment creates. */
export const COUNTER_FLAGS = 0

const OPCODE = {
  get: 0x00,
  add: 0x02,
  replace: 0x03,
  delete: 0x04,
  increment: 0x05,
  decrement: 0x06,
} as const

/** https://github.com/memcached/memcached/wiki/BinaryProtocolRevamped#response-status */
export const STATUS = {
  ok: 0x00,
  notFound: 0x01,
  exists: 0x02,
  notStored: 0x05,
  notANumber: 0x06,
  authRequired: 0x20,
  authRejected: 0x21,
  noMemory: 0x82,
} as const

/** One request, without its sequence number. */
export interface MemcachedRequest {
  readonly opcode: number
  readonly key: string
  /** Numbers of 32 bits each. */
  readonly extras?: readonly number[]
  readonly value?: Buffer
  /** The CAS token that the item must still have. */
  readonly cas?: bigint | undefined
}

export function get(key: string): MemcachedRequest {
  return { opcode: OPCODE.get, key }
}

/** Removes an item; with a token, only if the item still has it. */
export function remove(key: string, cas?: bigint): MemcachedRequest {
  return { opcode: OPCODE.delete, key, cas }
}

/** Adds to a counter, or creates it with that amount and expiration. The reply carries the sum. */
export function increment(key: string, amount: number, expiration: number): MemcachedRequest {
  return { opcode: OPCODE.increment, key, extras: counterExtras(amount, expiration) }
}

/** Subtracts from a counter, to no less than 0. Never creates one. */
export function decrement(key: string, amount: number): MemcachedRequest {
  return { opcode: OPCODE.decrement, key, extras: counterExtras(amount, DO_NOT_CREATE) }
}

/** The amount, and the count of a new counter, have 64 bits. */
function counterExtras(amount: number, expiration: number): readonly number[] {
  const high = Math.floor(amount / 2 ** 32)
  const low = amount % 2 ** 32
  return [high, low, high, low, expiration]
}

/**
 * Writes a state if the item still has the token; without a token, if there is no item. Never a `set`:
 * when memory is short, that removes the existing item (memcached 1.6.18).
 */
export function swap(
  key: string,
  value: Buffer,
  expiration: number,
  cas: bigint | undefined,
  flags = STATE_FLAGS,
): MemcachedRequest {
  const opcode = cas === undefined ? OPCODE.add : OPCODE.replace
  return { opcode, key, extras: [flags, expiration], value, cas }
}

/** Writes a counter's count, as `swap` writes a state. */
export function swapCount(key: string, count: number, expiration: number, cas: bigint | undefined) {
  return swap(key, Buffer.from(String(count)), expiration, cas, COUNTER_FLAGS)
}

const NO_EXTRAS: readonly number[] = []

/** A request with the sequence number that its reply will carry. */
interface NumberedRequest {
  readonly request: MemcachedRequest
  readonly seq: number
}

/** Encodes requests in order. */
export function encodeRequests(requests: readonly NumberedRequest[]): Buffer {
  let length = 0
  for (const { request } of requests) {
    const { key, extras, value } = request
    length += HEADER_LENGTH + 4 * (extras?.length ?? 0) + key.length + (value?.length ?? 0)
  }
  const bytes = Buffer.alloc(length)
  let at = 0
  for (const numbered of requests) at = encodeRequest(numbered, bytes, at)
  return bytes
}

/** Writes a request, and returns where it ends. Keys are ASCII: as many bytes as characters. */
function encodeRequest({ request, seq }: NumberedRequest, bytes: Buffer, at: number): number {
  const { opcode, key, extras = NO_EXTRAS, value, cas } = request
  const keyAt = at + HEADER_LENGTH + 4 * extras.length
  const end = keyAt + key.length + (value?.length ?? 0)
  bytes.writeUInt8(MAGIC, at)
  bytes.writeUInt8(opcode, at + 1)
  bytes.writeUInt16BE(key.length, at + 2)
  bytes.writeUInt8(4 * extras.length, at + 4)
  bytes.writeUInt32BE(end - at - HEADER_LENGTH, at + 8)
  bytes.writeUInt32BE(seq, at + 12)
  if (cas !== undefined) bytes.writeBigUInt64BE(cas, at + 16)
  let extraAt = at + HEADER_LENGTH
  for (const extra of extras) extraAt = bytes.writeUInt32BE(extra, extraAt)
  bytes.write(key, keyAt, 'latin1')
  value?.copy(bytes, keyAt + key.length)
  return end
}

/** A reply: its status, and where it is among the bytes that were received. */
export interface Reply {
  /** The sequence number of its request. */
  readonly seq: number
  readonly status: number
  readonly bytes: Buffer
  readonly at: number
  readonly end: number
}

/** Returns the reply that begins at `at`; `undefined` if its end has not been received. */
export function readReply(bytes: Buffer, at: number): Reply | undefined {
  if (at + HEADER_LENGTH > bytes.length) return undefined
  const end = at + HEADER_LENGTH + bytes.readUInt32BE(at + 8)
  if (end > bytes.length) return undefined
  return { seq: bytes.readUInt32BE(at + 12), status: bytes.readUInt16BE(at + 6), bytes, at, end }
}

/** Returns the CAS token of the item. */
export function casIn({ bytes, at }: Reply): bigint {
  return bytes.readBigUInt64BE(at + 16)
}

/** Returns the value of the item, or the text of an error. */
export function valueIn({ bytes, at, end }: Reply): Buffer {
  return bytes.subarray(at + HEADER_LENGTH + bytes.readUInt8(at + 4), end)
}

/**
 * Returns the sum in the reply to an increment or decrement, less the units that were added; -1 if a malformed
 * reply has none.
 */
export function sumBefore({ bytes, at, end }: Reply, added: number): number {
  if (end - at < HEADER_LENGTH + 8) return -1
  const high = bytes.readUInt32BE(at + HEADER_LENGTH)
  const low = bytes.readUInt32BE(at + HEADER_LENGTH + 4)
  if (high < 2 ** 21) return high * 2 ** 32 + low - added
  return Number((BigInt(high) << 32n) + BigInt(low) - BigInt(added))
}

/** Returns whether the item has the flags of a state, or the given ones. */
export function hasFlags({ bytes, at }: Reply, flags = STATE_FLAGS): boolean {
  return bytes.readUInt8(at + 4) === 4 && bytes.readUInt32BE(at + HEADER_LENGTH) === flags
}

/** memcached reads longer expirations as seconds since the Unix epoch. */
const MAX_RELATIVE_SECONDS = 30 * 24 * 60 * 60
const MAX_SECONDS = 0xfffffffe
/** memcached's clock ticks once a second, so an item may be gone one second early. */
const SLACK_SECONDS = 2

/** Out of the reach of fake timers, which replace the `performance` of the global object. */
const monotonicNowMs = () => performance.timeOrigin + performance.now()

/** The statuses of a `swap` of an item that others have changed, removed or created. */
export const CHANGED: readonly number[] = [STATUS.exists, STATUS.notFound, STATUS.notStored]

/**
 * Returns an expiration in whole seconds as memcached reads it, never early. 0 means never.
 *
 * Tests often fake the date, and what expires by a date in the past is gone at once. So the time of another
 * clock counts if it is later.
 */
export function expirationOf(afterMs: number, nowMs: number): number {
  const seconds = Math.ceil(afterMs / 1000) + SLACK_SECONDS
  if (seconds <= MAX_RELATIVE_SECONDS) return Math.max(1, seconds)
  const absolute = Math.ceil(Math.max(nowMs, monotonicNowMs()) / 1000) + seconds
  return absolute > MAX_SECONDS ? 0 : absolute
}

/** memcached's limit is 250 bytes without blanks and control characters; 30 are kept for a slice's index. */
const VALID_KEY = /^[\x21-\x7e]{1,220}$/

/** Returns the item key for a storage key: the same, or its hash where memcached would reject it. */
export function itemKey(key: string): string {
  return VALID_KEY.test(key) ? key : hashKey(key)
}
