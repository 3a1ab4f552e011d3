import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { bundleSources } from '../../support/servers/bundle.js'
import type { Running } from '../adapters/application.js'

type Ports = Pick<Running, 'port' | 'signalPort'>

/** Where the applications of `server.ts` listen, in a process of their own: Nest is ESM only. */
export interface NestServer {
  readonly express: Ports
  readonly fastify: Ports
  readonly global: number
  readonly local: number
  readonly calls: number
  close(): Promise<void>
}

/** Starts the applications. */
export async function startServer(): Promise<NestServer> {
  const program = await bundleSources(join(__dirname, 'server.ts'))
  const child = spawn(process.execPath, [program.path], {
    cwd: join(__dirname, '../../..'),
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, NODE_NO_WARNINGS: '1' },
  })
  const exited = once(child, 'exit').finally(program.remove)
  for await (const line of createInterface(child.stdout)) {
    if (!line.startsWith('{')) continue
    return {
      ...JSON.parse(line),
      async close() {
        child.kill()
        await exited
      },
    }
  }
  throw new Error('server.ts ended before it had printed its ports')
}
