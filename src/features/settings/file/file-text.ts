/** How texts in UTF-16 begin: with a byte-order mark, or with `{` in two bytes. */
const BEGINNINGS: readonly (readonly [bytes: readonly number[], encoding: string])[] = [
  [[0xff, 0xfe], 'utf-16le'],
  [[0xfe, 0xff], 'utf-16be'],
  [[0x7b, 0x00], 'utf-16le'],
  [[0x00, 0x7b], 'utf-16be'],
]
/** What a crash, or a program that writes blocks, may leave at the end of a file. */
const TRAILING_NULS = /\0+$/

/**
 * Returns the text in a file: UTF-8, or UTF-16 as some editors and shells write it, without a byte-order
 * mark. Throws a `TypeError` if it is empty or in another encoding, because a guess would change identities.
 */
export function textOf(path: string, bytes: Uint8Array): string {
  const [, encoding = 'utf-8'] =
    BEGINNINGS.find(([first]) => first.every((byte, i) => bytes[i] === byte)) ?? []
  const text = decode(path, bytes, encoding).replace(TRAILING_NULS, '')
  if (text.trim() !== '') return text
  throw new TypeError(`settingsFile: ${path} is empty. Write {} for a document without changes.`)
}

function decode(path: string, bytes: Uint8Array, encoding: string): string {
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes)
  } catch (error) {
    throw new TypeError(`settingsFile: ${path} must be UTF-8. Save it as UTF-8.`, { cause: error })
  }
}
