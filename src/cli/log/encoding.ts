import { concat, firstBytes } from './byte-stream.js'

const UTF8_MARK = Buffer.from('\ufeff')

/**
 * Passes a log's bytes in UTF-8, without a byte order mark. A log in UTF-16, as PowerShell redirects it, may
 * lack the mark: in such a log, the first character tells, because every log begins with one of printable ASCII.
 */
export async function* inUtf8(bytes: AsyncGenerator<Buffer>): AsyncGenerator<Buffer, void> {
  const head = await firstBytes(bytes, UTF8_MARK.length)
  const encoding = encodingOf(head)
  if (encoding === undefined) {
    const isMarked = head.subarray(0, UTF8_MARK.length).equals(UTF8_MARK)
    yield* concat(isMarked ? head.subarray(UTF8_MARK.length) : head, bytes)
    return
  }
  const decoder = new TextDecoder(encoding)
  for await (const chunk of concat(head, bytes)) yield Buffer.from(decoder.decode(chunk, { stream: true }))
  yield Buffer.from(decoder.decode())
}

/** Returns the encoding of bytes that are in UTF-16. */
function encodingOf([first = 0, second = 1]: Buffer): 'utf-16le' | 'utf-16be' | undefined {
  if ((first === 0xff && second === 0xfe) || (isText(first) && second === 0)) return 'utf-16le'
  if ((first === 0xfe && second === 0xff) || (first === 0 && isText(second))) return 'utf-16be'
  return undefined
}

/** Returns whether a byte is one of printable ASCII, or a blank. */
function isText(byte: number): boolean {
  return (byte >= 32 && byte < 127) || (byte >= 9 && byte <= 13)
}
