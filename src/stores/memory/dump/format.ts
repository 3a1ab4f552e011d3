import { bytesOf } from '../../../platform.js'
import { wrongUse } from '../../../util/validate.js'
import { SLOT_BYTES } from '../page.js'

/** The first four bytes: `HGMD` on little-endian machines. */
const MAGIC = 0x444d4748
/** Changes whenever the content changes, such as the meaning of a state or a mark. */
const VERSION = 1

/** The sizes of the header and of a state, and the positions of the checksum and of the first double. */
const HEADER_BYTES = 72
const STATE_BYTES = SLOT_BYTES
export const STATE_WORDS = STATE_BYTES / 4
const FIRST_DOUBLE = 4
const CHECKSUM = 16

/**
 * A dump, as views of its bytes:
 *
 *     byte 0       4         8        24       28        32    40       48      56     60    64
 *       `HGMD`   version   secret   states   doubles   now   system   epoch   text   0     checksum
 *
 * Then come the states, 32 bytes each: the two words of the hash, two numbers, the time at which the state
 * is fresh, and its mark. A state that is not two numbers has NaN as its second number. It is stored, after
 * its length, among the doubles that follow. The text is JSON, with overflow buckets and documents.
 */
export interface Dump {
  readonly bytes: Uint8Array
  readonly words: Int32Array
  readonly floats: Float32Array
  readonly numbers: Float64Array
  /** Where the first state is in `words`, and the first of the doubles in `numbers`. */
  readonly statesAt: number
  readonly doublesAt: number
  readonly states: number
  readonly text: string
  readonly secret: Int32Array
  readonly times: DumpTimes
}

/**
 * The store's clock, the system clock, and the time from which the times of states count, in milliseconds.
 */
export interface DumpTimes {
  readonly nowMs: number
  readonly systemMs: number
  readonly epochMs: number
}

/** Creates a dump without its states, doubles and checksum. */
export function createDump(
  { states, doubles }: { readonly states: number; readonly doubles: number },
  secret: Int32Array,
  times: DumpTimes,
  json: string,
): Dump {
  const text = bytesOf(json)
  const textAt = HEADER_BYTES + STATE_BYTES * states + 8 * doubles
  const bytes = new Uint8Array(textAt + Math.ceil(text.length / 8) * 8).fill(0x20, textAt)
  bytes.set(text, textAt)
  const words = new Int32Array(bytes.buffer)
  words.set([MAGIC, VERSION, ...secret, states, doubles])
  words[14] = bytes.length - textAt
  new Float64Array(bytes.buffer).set([times.nowMs, times.systemMs, times.epochMs], FIRST_DOUBLE)
  return viewsOf(bytes, json)
}

/** Writes the checksum of a complete dump. Returns the bytes of the dump. */
export function seal({ bytes, words }: Dump): Uint8Array {
  words.set(checksumOf(words), CHECKSUM)
  return bytes
}

/** Returns the dump in some bytes. Throws a `TypeError` for anything but a complete dump of this version. */
export function readDump(owner: string, given: unknown): Dump {
  if (!(ArrayBuffer.isView(given) && given.byteLength >= HEADER_BYTES)) throw foreign(owner)
  const bytes = alignedBytesOf(given)
  const [magic, version] = new Int32Array(bytes.buffer, bytes.byteOffset, 2)
  if (magic !== MAGIC) throw foreign(owner)
  if (version !== VERSION) {
    const problem = `the dump has format version ${version}, but this version of headgate reads ${VERSION}`
    throw wrongUse(owner, problem, 'Dump and restore with the same version, or start with an empty store.')
  }
  if (bytes.length % 8 !== 0) throw damagedError(owner)
  const words = new Int32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4)
  const textBytes = words[14] as number
  const content = STATE_BYTES * (words[6] as number) + 8 * (words[7] as number) + textBytes
  const [first, second] = checksumOf(words)
  const isComplete = bytes.length === HEADER_BYTES + content
  if (!isComplete || words[CHECKSUM] !== first || words[CHECKSUM + 1] !== second) throw damagedError(owner)
  return viewsOf(bytes, new TextDecoder().decode(bytes.subarray(bytes.length - textBytes)))
}

/** Returns the bytes of a view, or a copy of them, so that words of eight bytes can be read. */
function alignedBytesOf({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array {
  const bytes = new Uint8Array(buffer, byteOffset, byteLength)
  return byteOffset % 8 === 0 ? bytes : bytes.slice()
}

function viewsOf(bytes: Uint8Array, text: string): Dump {
  const { buffer, byteOffset, length } = bytes
  const words = new Int32Array(buffer, byteOffset, length / 4)
  const numbers = new Float64Array(buffer, byteOffset, length / 8)
  const [nowMs = 0, systemMs = 0, epochMs = 0] = numbers.subarray(FIRST_DOUBLE)
  const states = words[6] as number
  return {
    bytes,
    words,
    floats: new Float32Array(buffer, byteOffset, length / 4),
    numbers,
    statesAt: HEADER_BYTES / 4,
    doublesAt: (HEADER_BYTES + STATE_BYTES * states) / 8,
    states,
    text,
    secret: words.slice(2, 6),
    times: { nowMs, systemMs, epochMs },
  }
}

/**
 * Returns a checksum of all words except its own. Each step is one-to-one in the word and in the previous
 * state, so no change within one word goes unseen. It takes a tenth of the time of a CRC.
 */
function checksumOf(words: Int32Array): [number, number] {
  const { imul } = Math
  let a = 1
  let b = 2
  for (let i = 0; i < words.length; i++) {
    if (i === CHECKSUM || i === CHECKSUM + 1) continue
    const word = words[i] as number
    a ^= word
    a = imul((a << 15) | (a >>> 17), 0x9e3779b1)
    b ^= word
    b = imul((b << 7) | (b >>> 25), 0x85ebca6b)
  }
  return [a, b]
}

function foreign(owner: string): TypeError {
  return wrongUse(
    owner,
    'the bytes are not a dump of a memory store',
    'Pass what dumpMemory(store) returned.',
  )
}

export function damagedError(owner: string): TypeError {
  return wrongUse(
    owner,
    'the dump is damaged or incomplete',
    'Restore another dump, or start with an empty store.',
  )
}
