import { connect } from 'node:net'

/** What to send to a server on this machine. */
export interface Load {
  readonly port: number
  /** Whole requests, sent in turn. */
  readonly requests: readonly string[]
  readonly count: number
  readonly connections: number
  /** How many requests are on their way on each connection. */
  readonly depth: number
}

/** How a load was answered. */
export interface Answered {
  readonly statuses: Readonly<Record<number, number>>
  /** How long each request waited for its answer, in the order of the answers. */
  readonly latenciesMs: Float64Array
}

/**
 * Sends pipelined requests over kept connections (RFC 9112 §9.3.2), and reads no more of the answers than
 * status and length: a client that took as much CPU as the server could not keep it busy.
 */
export async function sendPipelined(load: Load): Promise<Answered> {
  const { port, requests, count, connections, depth } = load
  const statuses: Record<number, number> = {}
  const latenciesMs = new Float64Array(count)
  let sent = 0
  let answered = 0

  function converse(): Promise<void> {
    return new Promise((resolve, reject) => {
      const sentAtMs: number[] = []
      let received = ''
      const socket = connect({ port, host: '127.0.0.1', noDelay: true }).setEncoding('latin1')
      const send = (most: number) => {
        let text = ''
        const nowMs = performance.now()
        for (let i = 0; i < most && sent < count; i++) {
          text += requests[sent++ % requests.length]
          sentAtMs.push(nowMs)
        }
        if (text !== '') socket.write(text)
        else if (sentAtMs.length === 0) socket.end()
      }
      socket.once('connect', () => send(depth))
      socket.once('error', reject)
      socket.once('close', () =>
        sentAtMs.length === 0 ? resolve() : reject(new Error(`Cut off: ${received}`)),
      )
      socket.on('data', (text: string) => {
        received += text
        const nowMs = performance.now()
        let read = 0
        let at = 0
        for (let end = endOfAnswer(received, 0); end >= 0; end = endOfAnswer(received, at)) {
          const status = Number(received.slice(at + 9, at + 12))
          statuses[status] = (statuses[status] ?? 0) + 1
          latenciesMs[answered++] = nowMs - (sentAtMs.shift() as number)
          read++
          at = end
        }
        received = received.slice(at)
        send(read)
      })
    })
  }

  await Promise.all(Array.from({ length: connections }, converse))
  return { statuses, latenciesMs }
}

/** Returns where the answer that begins at `start` ends, or -1 where more has to come. */
function endOfAnswer(received: string, start: number): number {
  const headEnd = received.indexOf('\r\n\r\n', start)
  if (headEnd < 0) return -1
  const head = received.slice(start, headEnd)
  const length = /\r\nContent-Length: (\d+)/i.exec(head)?.[1]
  if (length === undefined) throw new Error(`An answer without a length: ${head}`)
  const end = headEnd + 4 + Number(length)
  return end <= received.length ? end : -1
}
