import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { bundleSources } from '../../support/servers/bundle.js'
import type { Running } from './application.js'

const ROOT = join(__dirname, '../../..')

/**
 * Starts a module of this folder in a process of its own, for frameworks that jest cannot import. The module
 * calls `announce` with what `application.listen` returns.
 */
export async function startChild(module: string): Promise<Running> {
  const program = await bundleSources(join(__dirname, module))
  const child = spawn(process.execPath, [program.path], {
    cwd: ROOT,
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, NODE_NO_WARNINGS: '1' },
  })
  const exited = once(child, 'exit').finally(program.remove)
  for await (const line of createInterface(child.stdout)) {
    if (!line.startsWith('{')) continue
    return {
      ...(JSON.parse(line) as Omit<Running, 'close'>),
      async close() {
        child.kill()
        await exited
      },
    }
  }
  throw new Error(`${module} ended before it had announced its ports`)
}
