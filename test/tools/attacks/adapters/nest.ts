import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { bundleSources } from '../../../support/servers/bundle.js'
import type { Site, SiteOf } from './login.js'

async function start(platform: 'express' | 'fastify'): Promise<Site> {
  const program = await bundleSources(resolve('test/tools/attacks/adapters/nest-server.ts'))
  const child = spawn(process.execPath, [program.path, platform], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, NODE_NO_WARNINGS: '1' },
  })
  const exited = once(child, 'exit').finally(program.remove)
  for await (const line of createInterface(child.stdout)) {
    const close = async () => {
      child.kill()
      await exited
    }
    return { port: JSON.parse(line).port, close }
  }
  throw new Error('nest-server.ts ended before it had printed its port')
}

export const nestSites: readonly SiteOf[] = [
  { name: 'Nest on Express', start: () => start('express') },
  { name: 'Nest on Fastify', start: () => start('fastify') },
]
