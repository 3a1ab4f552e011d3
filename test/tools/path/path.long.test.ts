import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'

test('the command counts the calls of one request on each store, and names the functions', async () => {
  const args = ['--import', 'tsx', join(__dirname, 'main.ts'), '--calls']
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 25_000 })
  for (const store of ['memory', 'Redis', 'memcached'])
    expect(stdout).toMatch(new RegExp(`^${store} +[1-9]\\d+ calls +[1-9]\\d files$`, 'm'))
  expect(stdout.match(/1 http\/rate-limit\.ts rateLimitMiddleware/g)).toHaveLength(3)
  expect(stdout.match(/1 stores\/redis\/redis-store\.ts apply/g)).toHaveLength(1)
})
