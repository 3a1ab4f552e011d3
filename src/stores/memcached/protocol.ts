/*
 * Requests of memcached's binary protocol: https://docs.memcached.org/protocols/binary/. A request is a header of 24 bytes,
 * extras, the key and the value. Numbers are big-endian.
 */

const MAGIC = 0x80
const HEADER_LENGTH = 24
/** As an expiration: a counter that is not there is not made. */
const NEVER_MAKE = 0xffffffff
/** The flags of our states, which tell them from other values under the same key. */
const FLAGS = 0x68670001
const FLAGS_LENGTH = 4

const OPCODE = {
  get: 0x00,
  add: 0x02,
  replace: 0x03,
  delete: 0x04,
  increment: 0x05,
  decrement: 0x06,
} as const

export const STATUS = {
  ok: 0x00,
  notFound: 0x01,
  exists: 0x02,
  notStored: 0x05,
  notANumber: 0x06,
  noMemory: 0x82,
} as const

/** One request, without its number. */
export interface Ask {
  readonly opcode: number
  readonly key: string
  readonly extras?: Buffer
  readonly value?: Buffer
  /** The token of the value that must be there still. */
  readonly cas?: bigint
}

export function get(key: string): Ask {
  return { opcode: OPCODE.get, key }
}

/** Removes a value; where a token is given, only if it is still that of the value there. */
export function remove(key: string, cas?: bigint): Ask {
  return cas === undefined ? { opcode: OPCODE.delete, key } : { opcode: OPCODE.delete, key, cas }
}

/** Adds to a counter, or makes it with that amount, to expire so (see `expirationOf`). The reply tells the sum. */
export function increment(key: string, amount: number, expiration: number): Ask {
  return { opcode: OPCODE.increment, key, extras: counterExtras(amount, expiration) }
}

/** Takes from a counter, down to 0 at most. One that is not there is not made. */
export function decrement(key: string, amount: number): Ask {
  return { opcode: OPCODE.decrement, key, extras: counterExtras(amount, NEVER_MAKE) }
}

function counterExtras(amount: number, expiration: number): Buffer {
  const extras = Buffer.allocUnsafe(20)
  extras.writeBigUInt64BE(BigInt(amount), 0)
  extras.writeBigUInt64BE(BigInt(amount), 8)
  extras.writeUInt32BE(expiration, 16)
  return extras
}

/**
 * Writes a value where the token is still that of the value there, or, without a token, where there is none. It is no `set`, since
 * memcached removes the value that is there when it has no memory for that (1.6.18).
 */
export function swap(key: string, value: Buffer, expiration: number, cas: bigint | undefined): Ask {
  const extras = Buffer.allocUnsafe(8)
  extras.writeUInt32BE(FLAGS, 0)
  extras.writeUInt32BE(expiration, 4)
  if (cas === undefined) return { opcode: OPCODE.add, key, extras, value }
  return { opcode: OPCODE.replace, key, extras, value, cas }
}

/** The bytes that `swap` writes beside the key, other than those that every item has. */
export function lengthOfSwapped(value: Buffer): number {
  return FLAGS_LENGTH + value.length
}

/** Whether the flags in a reply's extras are those that `swap` writes. */
export function isOurs(extras: Buffer): boolean {
  return extras.length === FLAGS_LENGTH && extras.readUInt32BE(0) === FLAGS
}

/** Puts requests one after the other, with these numbers, by which their replies are known. */
export function encode(asks: readonly Ask[], seqs: readonly number[]): Buffer {
  const length = asks.reduce((sum, ask) => sum + lengthOf(ask), 0)
  const bytes = Buffer.alloc(length)
  let at = 0
  asks.forEach((ask, i) => {
    encodeOne(ask, seqs[i] as number, bytes, at)
    at += lengthOf(ask)
  })
  return bytes
}

/** Keys are ASCII, so their length is that of their bytes. */
function lengthOf({ key, extras, value }: Ask): number {
  return HEADER_LENGTH + key.length + (extras?.length ?? 0) + (value?.length ?? 0)
}

function encodeOne(ask: Ask, seq: number, bytes: Buffer, at: number): void {
  const { opcode, key, extras, value, cas } = ask
  const extrasLength = extras?.length ?? 0
  bytes.writeUInt8(MAGIC, at)
  bytes.writeUInt8(opcode, at + 1)
  bytes.writeUInt16BE(key.length, at + 2)
  bytes.writeUInt8(extrasLength, at + 4)
  bytes.writeUInt32BE(lengthOf(ask) - HEADER_LENGTH, at + 8)
  bytes.writeUInt32BE(seq, at + 12)
  if (cas !== undefined) bytes.writeBigUInt64BE(cas, at + 16)
  extras?.copy(bytes, at + HEADER_LENGTH)
  bytes.write(key, at + HEADER_LENGTH + extrasLength, 'latin1')
  value?.copy(bytes, at + HEADER_LENGTH + extrasLength + key.length)
}
