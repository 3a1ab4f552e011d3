import { performance } from 'node:perf_hooks'
import type { State } from '../../policies/policy.js'
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
  /** Bytes, or a state, which is sent as doubles. */
  readonly value?: Buffer | State
  /** A number of 32 bits after a state. */
  readonly end?: number | undefined
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
  value: Buffer | State,
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

const NONE: readonly number[] = []

/** A request with the sequence number that its reply will carry. */
interface NumberedRequest {
  readonly request: MemcachedRequest
  readonly seq: number
}

/** Encodes requests in order. Keys are ASCII: as many bytes as characters. */
export function encodeRequests(requests: readonly NumberedRequest[]): Buffer {
  let length = 0
  for (const { request } of requests) {
    const { key, extras = NONE, value = NONE, end } = request
    const bytesPerElement = Buffer.isBuffer(value) ? 1 : 8
    length += HEADER_LENGTH + 4 * extras.length + key.length + bytesPerElement * value.length
    if (end !== undefined) length += 4
  }
  const bytes = Buffer.alloc(length)
  let at = 0
  for (const { request, seq } of requests) {
    const { opcode, key, extras = NONE, value = NONE, end, cas } = request
    const start = at
    bytes.writeUInt8(MAGIC, start)
    bytes.writeUInt8(opcode, start + 1)
    bytes.writeUInt16BE(key.length, start + 2)
    bytes.writeUInt8(4 * extras.length, start + 4)
    bytes.writeUInt32BE(seq, start + 12)
    if (cas !== undefined) bytes.writeBigUInt64BE(cas, start + 16)
    at += HEADER_LENGTH
    for (const extra of extras) at = bytes.writeUInt32BE(extra, at)
    at += bytes.write(key, at, 'latin1')
    if (Buffer.isBuffer(value)) at += value.copy(bytes, at)
    else for (const number of value) at = bytes.writeDoubleLE(number, at)
    if (end !== undefined) at = bytes.writeUInt32BE(end, at)
    bytes.writeUInt32BE(at - start - HEADER_LENGTH, start + 8)
  }
  return bytes
}

/** A reply: its status, and where it is among the bytes that were received. */
export interface Reply {
  /** The sequence number of its request. */
  readonly seq: number
  readonly status: number
  /** The CAS token of the item. */
  readonly cas: bigint
  readonly bytes: Buffer
  readonly at: number
  readonly end: number
}

/** Returns the reply that begins at `at`; `undefined` if its end has not been received. */
export function readReply(bytes: Buffer, at: number): Reply | undefined {
  if (at + HEADER_LENGTH > bytes.length) return undefined
  const end = at + HEADER_LENGTH + bytes.readUInt32BE(at + 8)
  if (end > bytes.length) return undefined
  const status = bytes.readUInt16BE(at + 6)
  return { seq: bytes.readUInt32BE(at + 12), status, cas: bytes.readBigUInt64BE(at + 16), bytes, at, end }
}

/** Returns the value of the item, or the text of an error. */
export function valueIn({ bytes, at, end }: Reply): Buffer {
  return bytes.subarray(at + HEADER_LENGTH + bytes.readUInt8(at + 4), end)
}

/**
 * Returns the sum in the reply to an increment or decrement, less the units that were added; -1 if a
 * malformed reply has none.
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
