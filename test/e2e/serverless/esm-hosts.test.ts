import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { bundleSources } from '../../support/servers/bundle.js'
import { LOGINS, REFUNDS } from './refunds.js'

/** Runs in a process of its own, because jest cannot load all of these hosts. */
test('hosts without a socket refund and release what requests do not use, and clear failures', async () => {
  const program = await bundleSources(join(__dirname, 'child.ts'))
  const running = promisify(execFile)(process.execPath, [program.path], { cwd: join(__dirname, '../../..') })
  const { stdout } = await running.finally(program.remove)
  const hosts = JSON.parse(stdout) as Record<string, unknown>
  const expected = [...REFUNDS, LOGINS].map(({ seen }) => seen)
  expect(hosts).toEqual(Object.fromEntries(Object.keys(hosts).map((host) => [host, expected])))
  expect(Object.keys(hosts)).toHaveLength(18)
})
