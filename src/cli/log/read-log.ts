import { createReadStream, fstatSync } from 'node:fs'
import { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { InputError } from '../failures.js'
import { printable } from '../output.js'
import { concat, firstBytes } from './byte-stream.js'
import { inUtf8 } from './encoding.js'

const CHUNK_BYTES = 256 * 1024

/**
 * Passes a log's bytes in UTF-8, decompressed if they begin as gzip does (RFC 1952 §2.3.1). `-` is the standard
 * input. `onRaw` gets how many bytes were read of the input itself. Throws an `InputError` if the input cannot
 * be read.
 */
export async function* readLog(path: string, onRaw: (bytes: number) => void): AsyncGenerator<Buffer, void> {
  if (path === '-' && fstatSync(0).isDirectory()) throw asInputError(path, { code: 'EISDIR' })
  const raw = path === '-' ? process.stdin : createReadStream(path, { highWaterMark: CHUNK_BYTES })
  try {
    const counted = countBytes(raw, onRaw)
    const head = await firstBytes(counted, 2)
    const bytes = concat(head, counted)
    yield* inUtf8(isGzip(head) ? gunzipped(bytes) : bytes)
  } catch (error) {
    throw asInputError(path, error)
  } finally {
    raw.destroy() // also the standard input, which would keep the process alive
  }
}

async function* gunzipped(bytes: AsyncGenerator<Buffer>): AsyncGenerator<Buffer, void> {
  const source = Readable.from(bytes, { objectMode: false })
  const gunzip = createGunzip({ chunkSize: CHUNK_BYTES })
  source.on('error', (error) => gunzip.destroy(error))
  yield* source.pipe(gunzip)
}

async function* countBytes(
  raw: AsyncIterable<Buffer>,
  onRaw: (bytes: number) => void,
): AsyncGenerator<Buffer, void> {
  for await (const chunk of raw) {
    onRaw(chunk.length)
    yield chunk
  }
}

function isGzip(head: Buffer): boolean {
  return head[0] === 0x1f && head[1] === 0x8b
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EACCES: 'permission denied',
  EISDIR: 'it is a directory',
  ENOTDIR: 'there is no such file',
  Z_BUF_ERROR: 'the gzip data ends early',
  Z_DATA_ERROR: 'the gzip data is damaged, or has other data after its end',
}

/** Returns the error of a system call or of zlib as an `InputError`, others as they are. */
export function asInputError(path: string, error: unknown): unknown {
  const { code, message }: { readonly code?: unknown; readonly message?: unknown } = error ?? {}
  if (typeof code !== 'string') return error
  return new InputError(`cannot read ${nameOf(path)}: ${REASONS[code] ?? printable(String(message))}`)
}

/** Returns how messages name an input. */
export function nameOf(path: string): string {
  return path === '-' ? 'standard input' : printable(path)
}
