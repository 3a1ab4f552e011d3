import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

test('the command counts the calls of one request on each store, and names the functions', async () => {
  const args = ['--import', 'tsx', join(__dirname, 'main.ts'), '--calls']
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 25_000 })
  for (const store of ['memory', 'Redis', 'memcached'])
    expect(stdout).toMatch(new RegExp(`^${store} +[1-9]\\d+ calls +[1-9]\\d files$`, 'm'))
  expect(stdout.match(/1 http\/rate-limit\.ts rateLimitMiddleware/g)).toHaveLength(3)
  expect(stdout.match(/1 stores\/redis\/run-batch\.ts runBatch/g)).toHaveLength(1)
})

test('docs/how-it-works.md draws the path as it is', async () => {
  const args = ['--import', 'tsx', join(__dirname, 'main.ts'), '--calls']
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 25_000 })
  const [, memory = '', redis = ''] = stdout.split(/^(?:memory|Redis|memcached)$/m)
  const page = readFileSync(join(__dirname, '../../../docs/how-it-works.md'), 'utf8')
  const drawn = /<!-- path -->\n```text\n([\s\S]*?)```/.exec(page)?.[1]?.match(/[a-z-]+\/[a-z/-]+\.ts/g) ?? []
  expect(drawn.length).toBeGreaterThan(15)
  expect(drawn.filter((file) => !memory.includes(` ${file} `) && !redis.includes(` ${file} `))).toEqual([])
})
