import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { clusterStore, serveChild } from 'headgate/cluster'
import { concurrency, createLimiter } from 'headgate/http'
import { type Bundle, bundle } from '../../support/servers/bundle.js'

let program: Bundle

beforeAll(async () => {
  program = await bundle(join(__dirname, 'child.ts'))
  clusterStore()
})
afterAll(() => program?.remove())

const start = (task: string) => serveChild(fork(program.path, [task], { execArgv: [] }))

/** Returns what a child did, and the code with which it ended by itself. */
async function run(task: string): Promise<{ result: unknown; code: unknown }> {
  const child = start(task)
  const result = resultOf(child)
  const [code] = await once(child, 'exit')
  return { result: await result, code }
}

function resultOf(child: ChildProcess): Promise<unknown> {
  return new Promise((resolve, reject) => {
    child.on('message', (message) => {
      const sent = Object(message)
      if ('result' in sent) resolve(sent.result)
    })
    child.once('exit', (code) => reject(new Error(`the child ended with code ${code}`)))
  })
}

test('a child waits for its decision, and then ends by itself', async () => {
  expect(await run('charge')).toEqual({ result: { remaining: 99, source: 'store' }, code: 0 })
  expect(await run('charge')).toEqual({ result: { remaining: 98, source: 'store' }, code: 0 })
})

test('a child that is served twice is charged once', async () => {
  const child = serveChild(start('charge'))
  expect(await resultOf(child)).toEqual({ remaining: 97, source: 'store' })
})

test('a message of the application reaches a listener that comes later', async () => {
  const child = start('listenLate')
  child.send('from the application')
  expect(await resultOf(child)).toBe('from the application')
})

test('units of a child that is killed are free at once', async () => {
  const policy = concurrency({ limit: 5, ttl: '1h' })
  const limiter = createLimiter({ name: 'held', policy, key: () => 'all', store: clusterStore() })
  const child = start('hold')
  expect(await resultOf(child)).toBe(false)
  expect((await limiter.peek(undefined)).remaining).toBe(0)
  child.kill('SIGKILL')
  await once(child, 'exit')
  while ((await limiter.peek(undefined)).remaining < 5) await pause(5)
})

test('a store that the parent does not have is an error that says so', async () => {
  const { result } = await run('unknown')
  const problem = "cluster: the process that owns the counts has no store named 'unknown'."
  const fix = "Call clusterStore({ name: 'unknown' }) there before it forks."
  expect(result).toEqual({ message: `${problem} ${fix}`, unsent: true })
})

test('messages that make no sense change nothing, and 300 callers are decided among them', async () => {
  const { result } = await run('attack')
  expect(result).toEqual({ allowed: 100, denied: 200, outcomes: 0, namesVersion: true })
})

test('a thread has no channel, and clusterStore says so', async () => {
  const { result } = await run('thread')
  expect(result).toContain(
    'clusterStore: a worker thread has no channel to the process that owns the counts.',
  )
})

test('stores of one name are one, and a store of another name counts apart', async () => {
  const limiterOn = (name: string) =>
    createLimiter({ name: 'apart', limit: 5, window: '1h', key: () => 'all', store: clusterStore({ name }) })
  await limiterOn('first').charge(undefined)
  expect((await limiterOn('first').peek(undefined)).remaining).toBe(4)
  expect((await limiterOn('second').peek(undefined)).remaining).toBe(5)
})

test.each<[object, string]>([
  [{ name: 'a b' }, 'clusterStore: name must be 1 to 64 letters'],
  [{ owner: 'child' }, "clusterStore: owner must be one of 'primary', 'parent', got \"child\"."],
  [{ maxKeys: 0, name: 'wrong' }, 'memoryStore: maxKeys must be a whole number from 1'],
  [{ size: 5 }, 'clusterStore: there is no option "size".'],
])('wrong options are an error: %p', (options, message) => {
  expect(() => clusterStore(options as never)).toThrow(message)
})
