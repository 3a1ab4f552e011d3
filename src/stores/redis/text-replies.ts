import { weakMemo } from '../../util/memo.js'
import type { Script } from './lua/script.js'
import { textScript } from './lua/text-script.js'
import type { TextReplies } from './transport.js'

/** Creates scripts that reply with text, and decodes their replies. Each script begins with `header`. */
/* @__NO_SIDE_EFFECTS__ */
export function textReplies(header?: string): TextReplies {
  return {
    scriptFor: weakMemo((script: Script) => textScript(script, header)),
    bytesIn(reply) {
      if (typeof reply === 'string') return bytesOf(reply)
      if (!Array.isArray(reply)) return reply
      return reply.map((item: unknown, i) => (typeof item === 'string' && i !== 1 ? bytesOf(item) : item))
    },
  }
}

/** The text replies of any client. */
export const TEXT_REPLIES = textReplies()

/** Decodes bytes from pairs of hexadecimal digits. Returns other text as it is, which no script sends. */
function bytesOf(digits: string): Uint8Array | string {
  if (digits.length % 2 !== 0 || NO_DIGIT.test(digits)) return digits
  const bytes = new Uint8Array(digits.length / 2)
  for (let i = 0; i < bytes.length; i++) bytes[i] = Number.parseInt(digits.slice(2 * i, 2 * i + 2), 16)
  return bytes
}

const NO_DIGIT = /[^0-9a-f]/
