import { connect, type Socket } from 'node:net'

/** What became of a request: its status, or `undefined` if no response came while the client waited. */
export type OnEnd = (status: number | undefined, tookMs: number) => void

/** Whose connections they are. */
export interface ConnectionOptions {
  readonly port: number
  /** The most connections. A request that finds none ends at once, without a status. */
  readonly most: number
  /** How long clients wait. */
  readonly patienceMs: number
  /**
   * Whether a proxy has the connections: all are opened first, and stay open. A request whose client has left
   * keeps its connection until its response is there. Otherwise clients open connections as they need them,
   * keep them for the next request, and destroy them when they give up.
   */
  readonly isProxied?: boolean
}

export interface Connections {
  send(request: string, onEnd: OnEnd): void
  readonly open: number
  close(): void
}

interface Connection {
  readonly socket: Socket
  onEnd: OnEnd | undefined
  sentAtMs: number
  received: string
  timer: NodeJS.Timeout | undefined
}

/**
 * Opens kept connections to a server. They do little more than to read the status and the length, so that the
 * server is what is busy.
 */
export function connectionsTo({ port, most, patienceMs, isProxied }: ConnectionOptions): Connections {
  const free: Connection[] = []
  const all = new Set<Connection>()

  function end(connection: Connection, status: number | undefined): void {
    const { onEnd, sentAtMs, timer } = connection
    clearTimeout(timer)
    connection.onEnd = undefined
    if (status === undefined) remove(connection)
    else free.push(connection)
    onEnd?.(status, performance.now() - sentAtMs)
  }

  function giveUp(connection: Connection): void {
    const { onEnd } = connection
    if (isProxied) connection.onEnd = undefined
    if (isProxied) onEnd?.(undefined, patienceMs)
    else end(connection, undefined)
  }

  function remove(connection: Connection): void {
    all.delete(connection)
    const index = free.indexOf(connection)
    if (index >= 0) free.splice(index, 1)
    connection.socket.destroy()
  }

  function receive(connection: Connection, text: string): void {
    connection.received += text
    if (!isWhole(connection.received)) return
    const status = Number(connection.received.slice(9, 12))
    connection.received = ''
    end(connection, status)
  }

  function open(): Connection {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true }).setEncoding('latin1')
    const connection: Connection = { socket, onEnd: undefined, sentAtMs: 0, received: '', timer: undefined }
    all.add(connection)
    socket.on('data', (text: string) => receive(connection, text))
    socket.on('error', () => end(connection, undefined))
    socket.on('close', () => end(connection, undefined))
    return connection
  }

  if (isProxied) while (all.size < most) free.push(open())
  return {
    send(request, onEnd) {
      const connection = free.pop() ?? (all.size < most ? open() : undefined)
      if (connection === undefined) return onEnd(undefined, 0)
      connection.onEnd = onEnd
      connection.sentAtMs = performance.now()
      connection.timer = setTimeout(giveUp, patienceMs, connection)
      connection.socket.write(request)
    },
    get open() {
      return all.size
    },
    close() {
      for (const connection of all) remove(connection)
    },
  }
}

/** Returns whether a response is whole. Each has a length, and a body of ASCII. */
function isWhole(response: string): boolean {
  const headEnd = response.indexOf('\r\n\r\n')
  if (headEnd < 0) return false
  const length = /\r\ncontent-length: (\d+)/i.exec(response)?.[1]
  if (length === undefined) throw new Error(`A response without a length: ${response}`)
  return response.length >= headEnd + 4 + Number(length)
}
