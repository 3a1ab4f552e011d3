import { execFile } from 'node:child_process'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { bundleSources } from '../../support/servers/bundle.js'

/** Runs in its own process, because Nest is ESM only. A process that ends without its output fails. */
test('text that clients choose has the quota that keys.md gives it, in every adapter', async () => {
  const seed = String(Date.now() % 1_000_000)
  const program = await bundleSources(join(__dirname, 'run.ts'))
  const running = promisify(execFile)(process.execPath, [program.path, seed], {
    cwd: resolve(__dirname, '../../..'),
  })
  const { stdout } = await running.finally(program.remove)
  const { problems, sent } = JSON.parse(stdout) as { problems: string[]; sent: number }
  expect([seed, problems]).toEqual([seed, []])
  expect(sent).toBeGreaterThan(1250)
}, 180_000)
