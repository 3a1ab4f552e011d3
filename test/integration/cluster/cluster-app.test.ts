import { Agent, get } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { type Child, startChild } from '../../bench/harness/child.js'
import { type Bundle, bundle } from '../../support/servers/bundle.js'
import { faultsIn, unknownIn } from '../../support/tally.js'
import { AT_ONCE, BURST, LIMIT, type Order, type Started } from './app.js'

let program: Bundle
let primary: Child
const agent = new Agent({ keepAlive: true, maxSockets: 25 })

beforeAll(async () => {
  program = await bundle(join(__dirname, 'app.ts'))
})
afterAll(() => program?.remove())

beforeEach(() => {
  primary = startChild(pathToFileURL(program.path), [], 256)
})
afterEach(() => primary.end())

const ask = <Answer>(order: Order) => primary.ask<Answer>(order)

async function startWorkers(count: number): Promise<Started[]> {
  const started: Started[] = []
  for (let i = 0; i < count; i++) started.push(await ask<Started>({ fork: true }))
  return started
}

interface Answer {
  /** 0 if the worker died amid the request, and -1 if it had died before and received nothing. */
  readonly status: number
  /** Who decided the request, if it was allowed. */
  readonly source: string
}

function request({ port }: Started, path: string): Promise<Answer> {
  return new Promise((resolve) => {
    const req = get({ port, path, agent }, async (res) => {
      const source = await text(res).catch(() => '')
      resolve({ status: res.statusCode ?? 0, source })
    })
    req.on('error', ({ code }: NodeJS.ErrnoException) => {
      resolve({ status: code === 'ECONNREFUSED' ? -1 : 0, source: '' })
    })
  })
}

/** Sends requests to workers in turn, from several callers, until `count` are sent. */
async function load(
  workers: () => readonly Started[],
  count: number,
  callers: number,
  path = '/total',
): Promise<Answer[]> {
  const answers: Answer[] = []
  let sent = 0
  const call = async () => {
    while (sent < count) {
      const list = workers()
      answers.push(await request(list[sent++ % list.length] as Started, path))
    }
  }
  await Promise.all(Array.from({ length: callers }, call))
  return answers
}

/** Begins requests that hold a unit each until their worker dies. Resolves when all are allowed. */
async function hold({ port }: Started, count: number): Promise<void> {
  const begun = Array.from(
    { length: count },
    () =>
      new Promise<number>((resolve, reject) => {
        const req = get({ port, path: '/held', agent: false }, (res) => {
          res.on('error', () => undefined).resume()
          resolve(res.statusCode ?? 0)
        })
        req.on('error', reject)
      }),
  )
  expect(await Promise.all(begun)).toEqual(Array(count).fill(200))
}

/** Asks until the answer is the expected one. The time-out of the test ends it. */
async function until(isDone: () => Promise<boolean>): Promise<void> {
  while (!(await isDone())) await pause(20)
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

const countOf = (answers: readonly Answer[], status: number) =>
  answers.filter((answer) => answer.status === status).length

test('four workers allow 1000 of 4000 requests, and the primary sees their counts', async () => {
  const workers = await startWorkers(4)
  const answers = await load(() => workers, 4000, 100)
  expect(countOf(answers, 200)).toBe(LIMIT)
  expect(countOf(answers, 429)).toBe(3000)
  expect(new Set(answers.map(({ source }) => source))).toContain('store')
  expect(await ask({ charge: 0 })).toBe(0)
})

test('what the primary takes, its workers do not get', async () => {
  const workers = await startWorkers(2)
  expect(await ask({ charge: 300 })).toBe(LIMIT - 300)
  const answers = await load(() => workers, 1000, 20)
  expect(countOf(answers, 200)).toBe(LIMIT - 300)
})

test('workers that are killed and replaced under load lose no unit, and take none twice', async () => {
  let workers = await startWorkers(4)
  const loading = load(() => workers, 6000, 300)
  for (let i = 0; i < 3; i++) {
    const victim = workers[i] as Started
    await ask({ kill: victim.worker })
    const replacement = await ask<Started>({ fork: true })
    workers = workers.map((each) => (each === victim ? replacement : each))
  }
  const answers = await loading
  const tally = {
    sent: answers.length,
    allowed: countOf(answers, 200),
    denied: countOf(answers, 429),
    uncounted: countOf(answers, -1),
  }
  const counted = LIMIT - (await ask<number>({ charge: 0 }))
  expect(counted).toBe(LIMIT)
  expect(faultsIn(tally, counted)).toEqual({ lost: 0, doubled: 0 })
  expect(unknownIn(tally)).toBeLessThanOrEqual(3 * agent.maxSockets) // those that were in the workers
})

test('workers that leave the cluster one after the other lose no unit and end by themselves', async () => {
  let workers = await startWorkers(2)
  const loading = load(() => workers, 3000, 20)
  for (const leaving of workers) {
    const replacement = await ask<Started>({ fork: true })
    workers = [...workers.filter((each) => each !== leaving), replacement]
    expect(await ask({ leave: leaving.worker })).toBe(0)
  }
  const answers = await loading
  expect(countOf(answers, 200)).toBeLessThanOrEqual(LIMIT)
  expect(await ask({ charge: 0 })).toBe(0)
})

test('a worker that dies releases the units that its requests held, and others keep theirs', async () => {
  const [first, second] = (await startWorkers(2)) as [Started, Started]
  await hold(first, AT_ONCE - 5)
  await hold(second, 5)
  expect(await request(second, '/held')).toMatchObject({ status: 429 })
  await ask({ kill: first.worker })
  await until(async () => (await ask({ peekAtOnce: true })) === AT_ONCE - 5)
  await hold(second, AT_ONCE - 5)
  expect(await ask({ peekAtOnce: true })).toBe(0)
})

test('a worker that dies amid a burst of requests leaves no unit behind', async () => {
  const [worker] = (await startWorkers(1)) as [Started]
  const burst = Array.from({ length: 300 }, () => {
    const req = get({ port: worker.port, path: '/held', agent: false }, (res) => {
      res.on('error', () => undefined).resume()
    })
    return req.on('error', () => undefined)
  })
  await ask({ kill: worker.worker })
  expect(burst).toHaveLength(300)
  await until(async () => (await ask({ peekAtOnce: true })) === AT_ONCE)
})

test('while the primary hangs, its workers decide by themselves, and then it decides again, exactly', async () => {
  const workers = await startWorkers(3)
  const answers: Answer[] = []
  const wave = async () => {
    const sent = await load(() => workers, 30, 15, '/impatient')
    answers.push(...sent)
    return sent
  }
  await wave()
  expect(answers.map(({ source }) => source)).toEqual(Array(30).fill('store'))
  const hanging = ask({ hangMs: 1500 })
  await until(async () => (await wave()).every(({ source }) => source === 'local'))
  await hanging
  await until(async () => (await wave()).every(({ source }) => source === 'store'))
  expect(countOf(answers, 200) + countOf(answers, 429)).toBe(answers.length)

  const remaining = await ask<number>({ charge: 0 })
  const byStore = answers.filter(({ source }) => source === 'store').length
  expect(LIMIT - remaining).toBeGreaterThanOrEqual(byStore)
  expect(LIMIT - remaining).toBeLessThanOrEqual(answers.length) // charges that nobody waited for count at most once
  const others = await load(() => workers, 2 * LIMIT, 25)
  expect(countOf(others, 200)).toBe(remaining)
  expect(countOf(others, 429)).toBe(2 * LIMIT - remaining)
  expect(await ask({ charge: 0 })).toBe(0)
})

test('when the primary dies, no request of its workers hangs, and the workers end', async () => {
  const workers = await startWorkers(3)
  const loading = load(() => workers, 3000, 25)
  primary.process.kill('SIGKILL')
  const answers = await loading
  expect(answers).toHaveLength(3000)
  expect(countOf(answers, 500)).toBe(0)
  expect(countOf(answers, 0)).toBeGreaterThan(0)
  expect(countOf(answers, 200)).toBeLessThanOrEqual(LIMIT)
  for (const { pid } of workers) await until(async () => !isRunning(pid))
})

test('charges at once share messages to the primary', async () => {
  const [worker] = (await startWorkers(1)) as [Started]
  expect((await request(worker, '/burst')).source).toBe(String(BURST))
  const before = await ask<number>({ countMessages: true })
  expect((await request(worker, '/burst')).source).toBe(String(LIMIT - BURST))
  const messages = (await ask<number>({ countMessages: true })) - before
  expect(messages).toBeGreaterThan(0)
  expect(messages).toBeLessThanOrEqual(BURST / 50)
})

test('a worker that begins before the primary has a store decides by itself until then', async () => {
  const worker = await ask<Started>({ begin: true })
  expect((await request(worker, '/impatient')).source).toBe('local')
  await ask({ charge: 0 }) // makes the store
  await until(async () => (await request(worker, '/impatient')).source === 'store')
})

test('workers follow settings that the primary has changed', async () => {
  const [worker] = (await startWorkers(1)) as [Started]
  await ask({ limit: 50 })
  await until(async () => {
    const res = await fetch(`http://127.0.0.1:${worker.port}/changing`)
    return res.headers.get('x-ratelimit-limit') === '50'
  })
})
