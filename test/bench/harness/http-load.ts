import { connect } from 'node:net'

const REQUEST = 'GET / HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\n\r\n'

/** How many answers came with each status. */
export type Statuses = Readonly<Record<number, number>>

/**
 * Sends so many requests to a server on this machine over kept connections, one after the other on each,
 * and counts how they are answered. It does little more than to read the status and the length, so that
 * the server is what is busy.
 */
export async function sendRequests(
  port: number,
  requests: number,
  connections: number,
  request = REQUEST,
): Promise<Statuses> {
  const statuses: Record<number, number> = {}
  let unsent = requests

  function converse(): Promise<void> {
    return new Promise((resolve, reject) => {
      let received = ''
      const socket = connect({ port, host: '127.0.0.1', noDelay: true }).setEncoding('latin1')
      const sendNext = () => (unsent-- > 0 ? socket.write(request) : socket.end())
      socket.once('connect', sendNext)
      socket.once('error', reject)
      socket.once('close', () => (received === '' ? resolve() : reject(new Error(`Cut off: ${received}`))))
      socket.on('data', (text: string) => {
        received += text
        if (!isWhole(received)) return
        const status = Number(received.slice(9, 12))
        statuses[status] = (statuses[status] ?? 0) + 1
        received = ''
        sendNext()
      })
    })
  }

  await Promise.all(Array.from({ length: connections }, converse))
  return statuses
}

function isWhole(answer: string): boolean {
  const headEnd = answer.indexOf('\r\n\r\n')
  if (headEnd < 0) return false
  const length = /\r\ncontent-length: (\d+)/i.exec(answer)?.[1]
  if (length === undefined) throw new Error(`An answer without a length: ${answer}`)
  return answer.length >= headEnd + 4 + Number(length)
}
