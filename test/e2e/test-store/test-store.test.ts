import { join } from 'node:path'
import { useRedis } from '../../integration/redis/use-redis.js'
import { runHere } from '../../support/run-command.js'
import { type Bundle, bundle } from '../../support/servers/bundle.js'
import { bundleProgram, type Report, runTestStore } from './run-test-store.js'

const redis = useRedis()
let program: Bundle
let redisModule: Bundle
let carelessModule: Bundle

beforeAll(async () => {
  program = await bundleProgram()
  redisModule = await bundle(join(__dirname, 'redis-module.ts'))
  carelessModule = await bundle(join(__dirname, 'careless-module.ts'))
})
afterAll(async () => {
  await Promise.all([program, redisModule, carelessModule].map((each) => each?.remove()))
})

function testStore(module: Bundle, ...args: readonly string[]) {
  const env = { REDIS_PORT: redis.server ? new URL(redis.server.url).port : '' }
  return runTestStore(program, [module.path, ...args], { env })
}

test('a store that keeps its contract passes, and other keys of the service are left alone', async () => {
  await redis.client.set('theirs', 'value')
  const { code, stdout, stderr } = await testStore(redisModule, '--json')
  expect([code, stderr]).toEqual([0, ''])
  const { tests, operations, emptyDocuments }: Report = JSON.parse(stdout)
  expect(tests.filter(({ passed }) => !passed)).toEqual([])
  expect(tests.length).toBeGreaterThan(300)
  expect(operations).toBeGreaterThan(tests.length)
  const left = (await redis.client.keys('*')).sort()
  expect(left).toEqual([...emptyDocuments, 'theirs'].sort())
  for (const key of emptyDocuments) expect(key).toMatch(/^hgtest:[0-9a-f]{8}:/)
})

test('--exact tests several processes, and --only selects tests', async () => {
  const only = 'take exactly the limit of one key, and no more later: tokenBucket'
  const { code, stdout } = await testStore(redisModule, '--exact', '--only', only, '--processes', '2')
  expect(stdout).toMatch(/^passed +1\nfailed +0\n/)
  expect(code).toBe(0)
})

test('a store that breaks its contract fails, with what it did', async () => {
  const { code, stdout, stderr } = await testStore(
    carelessModule,
    '--exact',
    '--only',
    'consecutive',
    '--not-atomic',
    '--parallel',
    '2',
  )
  expect(stderr).toMatch(/^headgate: \d+ of \d+ tests failed\n$/)
  expect(stdout).toContain('FAILED  4 processes with 50 callers each take exactly the limit of one key')
  expect(stdout).toContain('More than the limit: two charges were decided on one state')
  expect(code).toBe(1)
})

test.each<[string, string[], string]>([
  ['no module', [], 'a module that exports a store is required, such as ./store.js'],
  ['two modules', ['a.js', 'b.js'], 'only one module can be tested at a time, also got b.js'],
  ['one process', ['a.js', '--processes', '1'], '--processes must be a whole number from 2 to 64, got "1"'],
  ['a time without a unit', ['a.js', '--timeout', '5'], '--timeout must be a duration with a unit'],
  ['an unknown option', ['a.js', '--exactly'], 'unknown option "--exactly"; did you mean --exact?'],
])('%s is a wrong command line', async (_case, args, message) => {
  const { code, stderr } = await runHere(['test-store', ...args])
  expect(code).toBe(2)
  expect(stderr).toContain(message)
})

test('a module without a store says what to export', async () => {
  const { code, stderr } = await runHere(['test-store', join(__dirname, 'missing.js')])
  expect(code).toBe(1)
  expect(stderr).toMatch(/^headgate: cannot load a store from .*missing\.js: /)
})
