import { fork } from 'node:child_process'
import { inRuntimes } from '../../runtimes/fetched.js'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import { glidePath } from './glide.js'
import type { StartDriver } from './redis-exactness.js'

/** Clients that need a runtime or packages of their own. */
export type NativeClient = 'Bun' | 'Valkey GLIDE' | 'ioredis'

/** Returns a function that starts processes with these clients, in turn. */
export function startNative(clients: readonly NativeClient[]): StartDriver {
  let bun: string
  let glide: string
  beforeAll(async () => {
    bun = await inRuntimes('.bin/bun')
    glide = await glidePath()
  }, INSTALL_TIMEOUT_MS)

  return (program, url, i) => {
    const client = clients[i % clients.length]
    if (client === 'Bun') return fork(program, [url, 'Bun'], { execPath: bun, execArgv: [] })
    return fork(program, [url, client === 'ioredis' ? 'ioredis 6' : glide])
  }
}
