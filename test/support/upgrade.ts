import type { IncomingMessage } from 'node:http'
import { WebSocket } from 'ws'
import { closeWithServers } from './http.js'

/** What a client of engine.io upgrades. */
export const ENGINE_PATH = '/engine.io/?EIO=4&transport=websocket'

/** Resolves with how an upgrade ended: `'open'`, or the status. */
export async function upgrade(port: number, path = ENGINE_PATH): Promise<unknown> {
  const client = new WebSocket(`ws://127.0.0.1:${port}${path}`)
  closeWithServers(async () => client.terminate())
  return new Promise((resolve) => {
    client.on('open', () => resolve('open'))
    client.on('unexpected-response', (_req, res: IncomingMessage) => resolve(res.statusCode))
    client.on('error', () => resolve('closed'))
  })
}
