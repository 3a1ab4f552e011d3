import { connect } from 'node:net'

/** What a Redis server replies, in its protocol's version 2. */
export type Reply = string | number | null | readonly Reply[]

const TIMEOUT_MS = 10_000
const CR_LF = '\r\n'

/**
 * Sends one command over a connection of its own, and returns the reply. An error reply rejects with its
 * text. The URL may name a user, a password and a database.
 */
export function redisReply(url: string, args: readonly (string | number)[]): Promise<Reply> {
  const { hostname, port, username, password, pathname } = new URL(url)
  const commands: (typeof args)[] = [args]
  if (pathname.length > 1) commands.unshift(['SELECT', pathname.slice(1)])
  if (password) commands.unshift(['AUTH', ...[username, password].filter(Boolean).map(decodeURIComponent)])
  const socket = connect(Number(port || 6379), hostname)
  let received = Buffer.alloc(0)
  return new Promise((resolve, reject) => {
    socket.on('data', (bytes) => {
      received = Buffer.concat([received, bytes])
      const replies = repliesIn(received)
      const error = replies.find((reply) => reply instanceof Error)
      if (error === undefined && replies.length < commands.length) return
      if (error === undefined) resolve(replies.at(-1) as Reply)
      else reject(error)
      socket.destroy()
    })
    socket.on('error', reject)
    socket.on('close', () => reject(new Error(`The connection closed before the reply to ${args[0]}.`)))
    socket.setTimeout(TIMEOUT_MS, () =>
      socket.destroy(new Error(`No reply to ${args[0]} in ${TIMEOUT_MS} ms.`)),
    )
    socket.write(commands.map(encode).join(''))
  })
}

/** The same with the reply as text, one line per element. */
export async function redisText(url: string, args: readonly (string | number)[]): Promise<string> {
  return linesOf(await redisReply(url, args)).join('\n')
}

function linesOf(reply: Reply): string[] {
  if (typeof reply === 'object' && reply !== null) return reply.flatMap(linesOf)
  return [reply === null ? '' : String(reply)]
}

function encode(args: readonly (string | number)[]): string {
  const bulks = args.map((arg) => `$${Buffer.byteLength(String(arg))}${CR_LF}${arg}${CR_LF}`)
  return `*${args.length}${CR_LF}${bulks.join('')}`
}

/** The replies that have arrived whole. */
function repliesIn(bytes: Buffer): (Reply | Error)[] {
  const replies: (Reply | Error)[] = []
  for (let at = 0; ; ) {
    const read = readReply(bytes, at)
    if (read === undefined) return replies
    replies.push(read.reply)
    at = read.end
  }
}

/** Reads the reply that begins at `at`; `undefined` where some of it has not arrived. */
function readReply(bytes: Buffer, at: number): { reply: Reply | Error; end: number } | undefined {
  const lineEnd = bytes.indexOf(CR_LF, at)
  if (lineEnd < 0) return undefined
  const line = bytes.toString('utf8', at + 1, lineEnd)
  const next = lineEnd + CR_LF.length
  switch (String.fromCharCode(bytes[at] as number)) {
    case '-':
      return { reply: new Error(line), end: next }
    case ':':
      return { reply: Number(line), end: next }
    case '$':
      return readBulk(bytes, next, Number(line))
    case '*':
      return readArray(bytes, next, Number(line))
    default:
      return { reply: line, end: next }
  }
}

function readBulk(bytes: Buffer, at: number, length: number) {
  if (length < 0) return { reply: null, end: at }
  const end = at + length + CR_LF.length
  return bytes.length < end ? undefined : { reply: bytes.toString('utf8', at, at + length), end }
}

function readArray(bytes: Buffer, at: number, length: number) {
  if (length < 0) return { reply: null, end: at }
  const elements: Reply[] = []
  let end = at
  while (elements.length < length) {
    const read = readReply(bytes, end)
    if (read === undefined) return undefined
    elements.push(read.reply instanceof Error ? read.reply.message : read.reply)
    end = read.end
  }
  return { reply: elements, end }
}
